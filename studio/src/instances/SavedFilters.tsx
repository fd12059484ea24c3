import { useState } from "react";
import { Button, Dialog, Menu, TextField, toast } from "../ui";
import { drop, keep, useSavedFilters } from "./filterStore";
import { t } from "./messages";

type Filters = Record<string, string | undefined>;

export function SavedFilters({ filters, onUse }: { filters: Filters; onUse: (filters: Filters) => void }) {
  const { saved } = useSavedFilters();
  const [name, setName] = useState<string | null>(null);
  const cleared = Object.fromEntries(Object.keys(filters).map((key) => [key, undefined]));
  return (
    <>
      <Menu
        label={t("saved")}
        icon="star"
        items={[
          ...saved.map((one) => ({
            label: one.name,
            icon: "filter" as const,
            onSelect: () => onUse({ ...cleared, ...one.filters }),
          })),
          "line",
          {
            label: t("saveFilter"),
            icon: "add",
            disabled: Object.keys(filters).length === 0,
            onSelect: () => setName(""),
          },
          ...saved.map((one) => ({
            label: t("removeFilter", { name: one.name }),
            icon: "close" as const,
            onSelect: () => drop(one.name),
          })),
        ]}
      >
        {t("saved")}
      </Menu>
      {name !== null ? (
        <Dialog
          title={t("saveFilter")}
          onClose={() => setName(null)}
          onSubmit={() => {
            if (!name) return;
            keep(name, filters);
            toast.done(t("filterSaved", { name }));
            setName(null);
          }}
          foot={
            <Button type="submit" kind="primary" disabled={!name}>
              {t("save")}
            </Button>
          }
        >
          <TextField label={t("saveName")} value={name} onChange={(e) => setName(e.target.value)} />
        </Dialog>
      ) : null}
    </>
  );
}
