// Where the app begins.
// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import './styles.css';
import { App } from './app';

render(<App />, document.getElementById('app')!);
