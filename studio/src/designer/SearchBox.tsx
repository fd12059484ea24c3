import { useMemo } from "react";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import { placesOf } from "../model/document";
import { focusOn } from "../model/focus";
import { searchDocument } from "../model/search";
import { type Choice, Picker } from "./QuickAdd";

const t = defineMessages("search", { label: "Search in workflow" });

/** Finds an activity in the workflow and opens it. */
export function SearchBox({
  at,
  onClose,
  onShow,
}: {
  at: { x: number; y: number };
  onClose: () => void;
  onShow: (id: string) => void;
}) {
  const session = useEditorSession();
  const { document, catalogue } = useEditor((snapshot) => snapshot);
  const find = useMemo(
    () =>
      (query: string): Choice[] =>
        searchDocument(document, catalogue, query || " ").map((hit) => ({
          id: hit.place.activity.id,
          title: hit.title,
          detail: hit.detail,
          icon: catalogue.get(hit.place.activity.type)?.icon ?? "box",
        })),
    [document, catalogue],
  );
  return (
    <Picker
      at={at}
      label={t("label")}
      find={find}
      onClose={onClose}
      onPick={(id) => {
        const place = placesOf(document).get(id);
        onClose();
        if (place === undefined) return;
        session.open(focusOn(place), [id]);
        onShow(id);
      }}
    />
  );
}
