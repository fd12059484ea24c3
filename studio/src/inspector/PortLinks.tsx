/** Links to the ports of an activity, including empty ports that the card does not show. */

import { useEditorSession } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import type { Chip } from "../model/focus";
import { Section } from "./Section";

const t = defineMessages("doors", { title: "Contents", empty: "empty", open: "Open {title}" });

export function PortLinks({ chips }: { readonly chips: readonly Chip[] }) {
  const session = useEditorSession();
  if (chips.length === 0) return null;
  return (
    <Section id="inside" title={t("title")} open={chips.some((chip) => chip.count > 0)}>
      <div className="hf-ports">
        {chips.map((chip) => (
          <button
            key={`${chip.focus.port}/${chip.focus.index ?? ""}/${chip.focus.key ?? ""}`}
            type="button"
            className="hf-chip"
            title={t("open", { title: chip.title })}
            onClick={() => session.open(chip.focus)}
          >
            <span className="clip">{chip.title}</span>
            {chip.count > 0 ? <b>{chip.count}</b> : <span className="faint">{t("empty")}</span>}
          </button>
        ))}
      </div>
    </Section>
  );
}
