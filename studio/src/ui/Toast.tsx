import { create } from "zustand";
import { defineMessages } from "../i18n/messages";
import { Button, IconButton } from "./Button";

const t = defineMessages("toast", { dismiss: "Dismiss" });

type Action = { label: string; run: () => void };
type Toast = { id: number; text: string; bad: boolean; action?: Action | undefined };

const useToasts = create<{ toasts: Toast[] }>(() => ({ toasts: [] }));
let last = 0;

const dismiss = (id: number) =>
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));

function show(text: string, bad: boolean, action?: Action): void {
  last += 1;
  const id = last;
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts.slice(-3), { id, text, bad, action }] }));
  // Errors stay until they are dismissed.
  if (!bad) setTimeout(() => dismiss(id), action ? 8000 : 4000);
}

export const toast = {
  done: (text: string, action?: Action): void => show(text, false, action),
  failed: (error: unknown): void => show(error instanceof Error ? error.message : String(error), true),
};

export function Toasts() {
  const { toasts } = useToasts();
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((one) => (
        <div key={one.id} className={`toast ${one.bad ? "bad" : ""}`}>
          <div className="grow">{one.text}</div>
          {one.action ? (
            <Button
              small
              kind="plain"
              onClick={() => {
                one.action?.run();
                dismiss(one.id);
              }}
            >
              {one.action.label}
            </Button>
          ) : null}
          <IconButton small label={t("dismiss")} icon="close" onClick={() => dismiss(one.id)} />
        </div>
      ))}
    </div>
  );
}
