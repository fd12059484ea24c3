import { defineMessages } from "../i18n/messages";
import { IconButton } from "./Button";
import { ScrollRegion } from "./ScrollRegion";
import { toast } from "./Toast";

const t = defineMessages("value", { copy: "Copy", copied: "Copied" });

export const valueText = (value: unknown): string => {
  if (value === undefined) return "";
  return typeof value === "string" ? JSON.stringify(value) : JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
};

/** A value on one line, with the full text as tooltip. */
export function Value({ value, max = 160 }: { value: unknown; max?: number }) {
  const text = valueText(value);
  return (
    <span className="value" title={text.length > max ? text.slice(0, 2000) : undefined}>
      {text.length > max ? `${text.slice(0, max)}…` : text}
    </span>
  );
}

export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <ScrollRegion className="code mono" label={label}>
      {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
    </ScrollRegion>
  );
}

export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  toast.done(t("copied"));
}

/** An id with a copy button. */
export function Id({ id, short }: { id: string; short?: boolean }) {
  return (
    <span className="row" style={{ gap: 2 }}>
      <span className="value clip" title={id}>
        {short && id.length > 14 ? `…${id.slice(-10)}` : id}
      </span>
      <IconButton small label={t("copy")} icon="copy" onClick={() => void copy(id).catch(toast.failed)} />
    </span>
  );
}
