import { type ReactNode, useEffect, useId, useRef } from "react";
import { defineMessages } from "../i18n/messages";
import { Button, IconButton } from "./Button";

// Not "Cancel": that is an action on instances.
const t = defineMessages("dialog", { close: "Close", back: "Go back" });

type DialogProps = {
  title: string;
  onClose: () => void;
  children: ReactNode;
  foot?: ReactNode;
  wide?: boolean;
  /** If set, the dialog is a form, and Enter submits it. */
  onSubmit?: () => void;
  closable?: boolean;
};

const FIELDS = ".dialog-body :is(input:not([type=hidden]), select, textarea):not(:disabled)";

/** The native modal dialog: traps the focus, closes on Escape, and restores the focus. */
export function Dialog({ title, onClose, children, foot, wide, onSubmit, closable = true }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = box.current;
    const before = document.activeElement;
    if (dialog && !dialog.open) {
      dialog.showModal();
      // The browser would focus the close button. The first field or the primary button is more useful.
      const first = dialog.querySelector<HTMLElement>(FIELDS) ?? dialog.querySelector<HTMLElement>("button.primary");
      first?.focus();
    }
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const inner = (
    <>
      <div className="dialog-head">
        <h2 id={heading} className="grow">
          {title}
        </h2>
        {closable ? <IconButton label={t("close")} icon="close" onClick={onClose} /> : null}
      </div>
      <div className="dialog-body">{children}</div>
      {foot ? <div className="dialog-foot">{foot}</div> : null}
    </>
  );
  return (
    <dialog
      ref={box}
      className={`dialog ${wide ? "wide" : ""}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        if (closable) onClose();
      }}
      onMouseDown={(event) => {
        if (closable && event.target === box.current) onClose();
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      {onSubmit ? (
        <form
          style={{ display: "contents" }}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            event.stopPropagation();
            onSubmit();
          }}
        >
          {inner}
        </form>
      ) : (
        inner
      )}
    </dialog>
  );
}

type ConfirmProps = {
  title: string;
  children: ReactNode;
  action: string;
  danger?: boolean;
  busy?: boolean;
  disabled?: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

export function Confirm({ title, children, action, danger, busy, disabled, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={onConfirm}
      foot={
        <>
          <Button onClick={onClose}>{t("back")}</Button>
          <Button type="submit" kind="primary" danger={danger ?? false} busy={busy ?? false} disabled={disabled}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
