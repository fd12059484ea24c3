import { formatKeys, SHORTCUTS } from "../editor/shortcuts";
import { defineMessages } from "../i18n/messages";
import { Dialog } from "../ui";

const t = defineMessages("shortcuts", { title: "Keyboard shortcuts" });

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const groups = [...new Set(SHORTCUTS.map((item) => item.group))];
  const shown = SHORTCUTS.filter((item) => item.id !== "redo-y" && item.id !== "remove-back");
  return (
    <Dialog title={t("title")} onClose={onClose} wide>
      <div className="hf-shortcuts">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {shown
                .filter((item) => item.group === group)
                .map((item) => (
                  <div key={item.id}>
                    <dt>{item.label}</dt>
                    <dd>
                      <kbd>{formatKeys(item.keys)}</kbd>
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
