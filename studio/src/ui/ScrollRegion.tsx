import type { ReactNode } from "react";

/** A named region that scrolls by itself. It takes the focus, so that the keyboard can scroll it (WCAG 2.1.1). */
export function ScrollRegion({
  label,
  className,
  children,
}: {
  label: string;
  className: string;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region without controls is reachable only by focus
    <section className={className} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
