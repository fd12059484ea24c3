/** Pop-up list with search: best match first, arrow keys and Enter. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { ActivityIcon } from "../catalogue/ActivityIcon";
import { findActivities } from "../catalogue/activitySearch";
import { defineMessages } from "../i18n/messages";
import type { ActivityDescriptor, Catalogue } from "../model/descriptors";
import "./picker.css";

const t = defineMessages("quick-add", {
  add: "Add activity",
  none: "No matches.",
});

export interface Choice {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  readonly icon: string;
}

export function QuickAdd({
  at,
  catalogue: known,
  onPick,
  onClose,
}: {
  at: { x: number; y: number };
  catalogue: Catalogue;
  onPick: (type: string) => void;
  onClose: () => void;
}) {
  const find = useMemo(
    () => (query: string) =>
      findActivities(known, query).map(
        (item: ActivityDescriptor): Choice => ({
          id: item.type,
          title: item.display_name ?? item.type,
          detail: item.category ?? "",
          icon: item.icon ?? "box",
        }),
      ),
    [known],
  );
  return <Picker at={at} label={t("add")} find={find} onPick={onPick} onClose={onClose} />;
}

export function Picker({
  at,
  label,
  find,
  onPick,
  onClose,
}: {
  at: { x: number; y: number };
  label: string;
  find: (query: string) => readonly Choice[];
  onPick: (id: string) => void;
  onClose: () => void;
}) {
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const [place, setPlace] = useState({ left: at.x, top: at.y });
  const box = useRef<HTMLDivElement>(null);
  // Element that gets the focus back. Read before the input takes the focus.
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const back =
        before instanceof HTMLElement && before !== document.body && before.isConnected
          ? before
          : document.querySelector<HTMLElement>(".hf-designer");
      // A frame may take long: if the user has focused another element by then, it keeps the focus.
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) back?.focus({ preventScroll: true });
      });
    },
    [before],
  );
  const choices = useMemo(() => find(query), [find, query]);
  useLayoutEffect(() => {
    const size = box.current?.getBoundingClientRect();
    if (size === undefined) return;
    setPlace({
      left: Math.max(8, Math.min(at.x, innerWidth - size.width - 8)),
      top: Math.max(8, Math.min(at.y + 8, innerHeight - size.height - 8)),
    });
  }, [at]);
  useEffect(() => {
    const outside = (event: PointerEvent): void => {
      if (!box.current?.contains(event.target as HTMLElement)) onClose();
    };
    window.addEventListener("pointerdown", outside, true);
    return () => window.removeEventListener("pointerdown", outside, true);
  }, [onClose]);
  useEffect(() => {
    box.current?.querySelector(`[data-index="${active}"]`)?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const pick = (index: number): void => {
    const choice = choices[index];
    if (choice !== undefined) onPick(choice.id);
  };
  return createPortal(
    <div ref={box} className="hf-picker" style={place}>
      <input
        // biome-ignore lint/a11y/noAutofocus: the user has just opened this list to type into it
        autoFocus
        className="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="hf-picker-list"
        aria-activedescendant={choices.length > 0 ? `hf-choice-${active}` : undefined}
        aria-label={label}
        placeholder={`${label} …`}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setActive(0);
        }}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") onClose();
          else if (event.key === "Enter") pick(active);
          else if (event.key === "ArrowDown") setActive(Math.min(active + 1, choices.length - 1));
          else if (event.key === "ArrowUp") setActive(Math.max(active - 1, 0));
          else return;
          event.preventDefault();
        }}
      />
      <div id="hf-picker-list" role="listbox" aria-label={label} className="hf-choices">
        {choices.map((choice, index) => (
          <button
            key={choice.id}
            id={`hf-choice-${index}`}
            data-index={index}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onPointerMove={() => setActive(index)}
            onClick={() => pick(index)}
          >
            <ActivityIcon name={choice.icon} />
            <span className="grow clip">{choice.title}</span>
            <span className="faint small clip">{choice.detail}</span>
          </button>
        ))}
        {choices.length === 0 ? <p className="faint small">{t("none")}</p> : null}
      </div>
    </div>,
    document.body,
  );
}
