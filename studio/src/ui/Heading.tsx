import { useEffect } from "react";

const PRODUCT = "Holdfast Studio";

/** Heading of a page; also sets the title of the browser tab. */
export function Heading({ children, className }: { children: string; className?: string }) {
  useEffect(() => {
    document.title = `${children} – Holdfast`;
    return () => {
      document.title = PRODUCT;
    };
  }, [children]);
  return (
    <h1 className={className} title={children}>
      {children}
    </h1>
  );
}
