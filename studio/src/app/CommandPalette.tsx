import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { definitions } from "../api/queries";
import { useCan } from "../api/session";
import { defineMessages } from "../i18n/messages";
import { type Command, rank, useCommands } from "../navigation/commands";
import { PAGES, t as place } from "../navigation/pages";
import { Dialog, Icon } from "../ui";
import { switchTheme } from "../ui/theme";

const t = defineMessages("palette", {
  title: "Command palette",
  type: "Search pages, definitions and commands",
  theme: "Toggle light and dark theme",
  open: "Open {name}",
  go: "Go to {name}",
  none: "No matches.",
});

/** Command palette: pages, definitions and commands by fuzzy search. Opens with Ctrl+K. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const found = useMatches(typed).slice(0, 12);
  const chosen = found[Math.min(at, found.length - 1)];
  const run = (command: Command | undefined) => {
    onClose();
    command?.run();
  };
  return (
    <Dialog title={t("title")} onClose={onClose} onSubmit={() => run(chosen)}>
      <input
        className="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={chosen ? `palette-${chosen.id}` : undefined}
        aria-label={t("type")}
        placeholder={t("type")}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (!step || found.length === 0) return;
          event.preventDefault();
          setAt((at + step + found.length) % found.length);
        }}
      />
      <div id="palette" role="listbox" aria-label={t("title")} className="palette">
        {found.map((command) => (
          <button
            key={command.id}
            id={`palette-${command.id}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={command === chosen}
            onClick={() => run(command)}
          >
            <Icon name={command.icon ?? "play"} />
            <span className="grow clip">{command.label}</span>
            {command.keys ? <kbd>{command.keys}</kbd> : null}
          </button>
        ))}
        {found.length === 0 ? <p className="quiet">{t("none")}</p> : null}
      </div>
    </Dialog>
  );
}

function useMatches(typed: string): Command[] {
  const can = useCan();
  const navigate = useNavigate();
  const { sets } = useCommands();
  const known = useQuery({ ...definitions.known(), enabled: can("definitions:read") });
  return useMemo(() => {
    const all: Command[] = [
      ...[...sets.values()].flat(),
      ...PAGES.filter((one) => can(one.needs)).map((one) => ({
        id: one.path,
        label: t("go", { name: place(one.name) }),
        icon: one.icon,
        keys: one.keys,
        run: () => void navigate({ to: one.path }),
      })),
      { id: "theme", label: t("theme"), icon: "moon" as const, run: switchTheme },
      ...(known.data?.items ?? []).map((one) => ({
        id: `definition-${one.id}`,
        label: t("open", { name: one.name || one.id }),
        icon: "flow" as const,
        run: () => void navigate({ to: "/definitions/$id", params: { id: one.id } }),
      })),
    ];
    return all
      .map((command) => ({ command, score: rank(command.label, typed) }))
      .filter((one): one is { command: Command; score: number } => one.score !== null)
      .sort((a, b) => b.score - a.score)
      .map((one) => one.command);
  }, [sets, known.data, typed, can, navigate]);
}
