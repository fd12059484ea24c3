import { defineMessages } from "../i18n/messages";
import { type Crumb, type Focus, writeFocus } from "../model/focus";

const t = defineMessages("breadcrumb", { label: "Breadcrumb" });

const keyOf = ({ focus }: Crumb): string => writeFocus(focus) ?? "root";

export function Breadcrumb({ crumbs, onOpen }: { crumbs: readonly Crumb[]; onOpen: (focus: Focus) => void }) {
  return (
    <nav className="hf-crumbs" aria-label={t("label")}>
      {crumbs.map((crumb, index) =>
        index === crumbs.length - 1 ? (
          <span key={keyOf(crumb)} aria-current="page" className="clip" title={crumb.title}>
            {crumb.title}
          </span>
        ) : (
          <button
            key={keyOf(crumb)}
            type="button"
            className="clip"
            title={crumb.title}
            onClick={() => onOpen(crumb.focus)}
          >
            {crumb.title}
          </button>
        ),
      )}
    </nav>
  );
}
