import { defineMessages } from "../i18n/messages";
import type { Crumb, Focus } from "../model/focus";

const t = defineMessages("breadcrumb", { label: "Where you are" });

export function Breadcrumb({ crumbs, onOpen }: { crumbs: readonly Crumb[]; onOpen: (focus: Focus) => void }) {
  return (
    <nav className="hf-crumbs" aria-label={t("label")}>
      {crumbs.map((crumb, index) =>
        index === crumbs.length - 1 ? (
          <span key={index} aria-current="page" className="clip" title={crumb.title}>
            {crumb.title}
          </span>
        ) : (
          <button key={index} type="button" className="clip" title={crumb.title} onClick={() => onOpen(crumb.focus)}>
            {crumb.title}
          </button>
        ),
      )}
    </nav>
  );
}
