// A dialog over the page. The browser's own element: it keeps the focus inside, gives it back, and closes on Esc.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { IconButton } from './controls';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons below the content. */
  actions?: ComponentChildren;
  wide?: boolean;
  /** Without a visible heading: the title is for screen readers only. */
  bare?: boolean;
  /** At the left edge, as high as the window. */
  drawer?: boolean;
}

export function Dialog({ title, onClose, children, actions, wide, bare, drawer }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    if (!dialog.open) dialog.showModal();
    return () => dialog.close();
  }, []);
  const outside = (event: MouseEvent) => {
    if (event.target === element.current) onClose();
  };
  return (
    <dialog
      ref={element}
      class={`dialog${wide ? ' dialog-wide' : ''}${bare ? ' dialog-bare' : ''}${drawer ? ' dialog-drawer' : ''}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={outside}
    >
      {!bare && (
        <header class="dialog-head">
          <h2>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
      )}
      <div class="dialog-body">{children}</div>
      {actions && <footer class="dialog-actions">{actions}</footer>}
    </dialog>
  );
}
