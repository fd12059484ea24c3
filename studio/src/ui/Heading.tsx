import { useEffect } from "react";

const PRODUCT = "Holdfast Studio";

/** What a page is about: its heading, and the name of its tab in the browser. */
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
