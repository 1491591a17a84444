// Everything pages are made of.
// SPDX-License-Identifier: Apache-2.0
export * from './controls';
export * from './dialog';
export * as format from './format';
export * from './hooks';
export * from './icons';
export * from './json';
export * from './show';
export * from './toast';
