// Where the console begins.
// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/table.css';
import './styles/design.css';
import { App } from './app';
import { applyTheme } from './lib/theme';

applyTheme();
render(<App />, document.getElementById('app')!);
