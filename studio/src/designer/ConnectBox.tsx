import { useMemo } from "react";
import { connect } from "../editor/commands/connections";
import { mayConnect } from "../editor/rules";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import { levelOf } from "../model/focus";
import { graphOf } from "../model/graph";
import { scoreOf } from "../model/search";
import { toast } from "../ui";
import { type Choice, Picker } from "./QuickAdd";

const t = defineMessages("connect", { label: "Connect {title} to" });

/** Connect by keyboard: outcomes and targets in one list. */
export function ConnectBox({ from, at, onClose }: { from: string; at: { x: number; y: number }; onClose: () => void }) {
  const session = useEditorSession();
  const { document, catalogue, focus } = useEditor((snapshot) => snapshot);
  const level = useMemo(() => levelOf(document, catalogue, focus), [document, catalogue, focus]);
  const graph = useMemo(() => graphOf(level, catalogue), [level, catalogue]);
  const source = graph.nodes.find((node) => node.id === from);
  const find = useMemo(() => {
    const outcomes = source?.outcomes ?? [];
    const all = outcomes.flatMap((outcome) =>
      graph.nodes
        .filter((node) => node.id !== from && mayConnect(level, catalogue, from, outcome, node.id).ok)
        .map(
          (node): Choice => ({
            id: JSON.stringify([outcome, node.id]),
            title: outcomes.length > 1 ? `${outcome} → ${node.title}` : node.title,
            detail: node.summary,
            icon: node.icon,
          }),
        ),
    );
    return (query: string) => {
      const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
      return terms.length === 0 ? all : all.filter((choice) => scoreOf([choice.title, choice.detail], terms) > 0);
    };
  }, [graph, level, catalogue, from, source]);
  return (
    <Picker
      at={at}
      label={t("label", { title: source?.title ?? "" })}
      find={find}
      onClose={onClose}
      onPick={(id) => {
        const [outcome, target] = JSON.parse(id) as [string, string];
        const verdict = session.run(connect(from, outcome, target));
        if (!verdict.ok) toast.done(verdict.why);
        onClose();
      }}
    />
  );
}
