import type { ReactNode } from "react";

/** Collapsible section of the inspector. The state is kept until the page is left. */
const folded = new Map<string, boolean>();

export function Section({
  id,
  title,
  count,
  open = true,
  children,
}: {
  id: string;
  title: string;
  count?: number | undefined;
  open?: boolean;
  children: ReactNode;
}) {
  return (
    <details
      className="hf-section"
      open={folded.get(id) ?? open}
      onToggle={(event) => folded.set(id, event.currentTarget.open)}
    >
      <summary>
        {title}
        {count !== undefined && count > 0 ? <span className="count">{count}</span> : null}
      </summary>
      <div className="hf-section-body">{children}</div>
    </details>
  );
}
