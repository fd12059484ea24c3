/** Zoom buttons and fit to view. */

import { ControlButton, Controls } from "@xyflow/react";
import { defineMessages } from "../i18n/messages";

const t = defineMessages("zoom", { fit: "Fit to view" });

export function ZoomControls({ onFit }: { readonly onFit: () => void }) {
  return (
    <Controls showInteractive={false} showFitView={false} position="bottom-left" orientation="horizontal">
      <ControlButton onClick={onFit} aria-label={t("fit")} title={t("fit")}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" fill="none" stroke="currentColor" strokeWidth="1.6" />
        </svg>
      </ControlButton>
    </Controls>
  );
}
