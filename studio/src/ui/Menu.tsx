import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { Button, type ButtonProps } from "./Button";
import { Icon, type IconName } from "./Icon";

export type MenuItem =
  | { label: string; icon?: IconName; onSelect: () => void; danger?: boolean; disabled?: boolean; hint?: string }
  | "line";

type MenuProps = { items: readonly (MenuItem | false | undefined)[]; label: string; children?: ReactNode } & Omit<
  ButtonProps,
  "children" | "label"
>;

/** A button that opens a menu. Arrow keys move, Escape closes. */
export function Menu({ items, label, children, ...button }: MenuProps) {
  const [place, setPlace] = useState<DOMRect | null>(null);
  const anchor = useRef<HTMLSpanElement>(null);
  const shown = visibleItems(items);
  const close = () => {
    setPlace(null);
    anchor.current?.querySelector("button")?.focus();
  };
  if (shown.length === 0) return null;
  return (
    <span ref={anchor} style={{ display: "inline-flex" }}>
      <Button
        kind={children === undefined ? "plain" : "default"}
        icon={children === undefined ? "more" : undefined}
        {...button}
        aria-label={children === undefined ? label : undefined}
        title={children === undefined ? label : undefined}
        aria-haspopup="menu"
        aria-expanded={place !== null}
        onClick={(event) => {
          event.stopPropagation();
          setPlace(place ? null : (anchor.current?.getBoundingClientRect() ?? null));
        }}
      >
        {children}
      </Button>
      {place ? <MenuList items={shown} label={label} anchor={place} onClose={close} /> : null}
    </span>
  );
}

const visibleItems = (items: MenuProps["items"]): MenuItem[] =>
  items
    .filter((item): item is MenuItem => Boolean(item))
    .filter(
      (item, index, all) => item !== "line" || (index > 0 && index < all.length - 1 && all[index - 1] !== "line"),
    );

const labelOf = (item: MenuItem | undefined): string => (item === undefined || item === "line" ? "" : item.label);

type Anchor = { left: number; right: number; top: number; bottom: number };

export function MenuList({
  items,
  label,
  anchor,
  onClose,
}: {
  items: readonly MenuItem[];
  label: string;
  anchor: Anchor;
  onClose: () => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const [where, setWhere] = useState({ left: anchor.left, top: anchor.bottom + 4 });
  useLayoutEffect(() => {
    const size = list.current?.getBoundingClientRect();
    if (!size) return;
    const left = anchor.left + size.width > innerWidth - 8 ? Math.max(8, anchor.right - size.width) : anchor.left;
    const top =
      anchor.bottom + size.height > innerHeight - 8 ? Math.max(8, anchor.top - size.height - 4) : anchor.bottom + 4;
    setWhere({ left, top });
    list.current?.querySelector<HTMLElement>("[role=menuitem]:not(:disabled)")?.focus();
  }, [anchor]);
  useEffect(() => {
    const outside = (event: Event) => {
      if (!list.current?.contains(event.target as Node)) onClose();
    };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, [onClose]);
  // A modal dialog makes everything outside of it inert, so a menu opened inside is rendered inside.
  const host = document.querySelector("dialog[open]") ?? document.body;
  return createPortal(
    <div
      ref={list}
      className="menu"
      role="menu"
      aria-label={label}
      style={where}
      onKeyDown={(event) => move(event, list.current, onClose)}
      onClick={(event) => event.stopPropagation()}
    >
      {items.map((item, index) =>
        item === "line" ? (
          <hr key={`line after ${labelOf(items[index - 1])}`} />
        ) : (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            className={item.danger ? "danger" : ""}
            disabled={item.disabled}
            title={item.hint}
            onClick={() => {
              onClose();
              item.onSelect();
            }}
          >
            {item.icon ? <Icon name={item.icon} /> : null}
            {item.label}
          </button>
        ),
      )}
    </div>,
    host,
  );
}

function move(event: KeyboardEvent, list: HTMLElement | null, close: () => void): void {
  if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    event.stopPropagation();
    close();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !list) return;
  event.preventDefault();
  const all = [...list.querySelectorAll<HTMLElement>("[role=menuitem]:not(:disabled)")];
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[(at + step + all.length) % all.length]?.focus();
}
