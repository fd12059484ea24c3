import { useState } from "react";
import { api } from "../api/client";
import { apiPath, invalidate } from "../api/queries";
import { useCan } from "../api/session";
import type { Role } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Button, Checkbox, Confirm, Dialog, Menu, TextField, toast } from "../ui";
import { ListPage } from "./ListPage";
import { PERMISSIONS } from "./permissions";

const t = defineMessages("roles", {
  title: "Roles",
  lead: "Named sets of permissions",
  name: "Role",
  permissions: "Permissions",
  kind: "Kind",
  builtIn: "Built in",
  own: "Custom",
  new: "New role",
  edit: "Edit",
  editTitle: "Edit {name}",
  delete: "Delete",
  deleteTitle: "Delete the role {name}?",
  deleteText: "Users with this role lose its permissions immediately.",
  save: "Save",
  all: "all permissions",
  actions: "Actions: {name}",
  emptyTitle: "No roles",
  empty: "A role is a named set of permissions.",
});

export function RolesPage() {
  const can = useCan();
  const [edited, setEdited] = useState<Role | "new" | null>(null);
  const [deleted, setDeleted] = useState<Role | null>(null);
  const remove = async (role: Role) => {
    await api.delete(apiPath("roles", role.name)).catch(toast.failed);
    await invalidate("roles");
    setDeleted(null);
  };
  return (
    <>
      <ListPage<Role>
        title={t("title")}
        lead={t("lead")}
        resource="roles"
        icon="lock"
        emptyTitle={t("emptyTitle")}
        empty={t("empty")}
        id={(row) => row.name}
        name={(row) => row.name}
        actions={
          can("users:write") ? (
            <Button kind="primary" icon="add" onClick={() => setEdited("new")}>
              {t("new")}
            </Button>
          ) : undefined
        }
        columns={[
          { id: "name", label: t("name"), sort: "name", cell: (row) => <b>{row.name}</b> },
          {
            id: "kind",
            label: t("kind"),
            sort: "built_in",
            cell: (row) => <Badge>{row.built_in ? t("builtIn") : t("own")}</Badge>,
          },
          {
            id: "permissions",
            label: t("permissions"),
            cell: (row) => (
              <span className="row wrap" style={{ gap: 4 }}>
                {row.permissions.map((one) => (
                  <Badge key={one} tone="accent">
                    {one === "*" ? t("all") : one}
                  </Badge>
                ))}
              </span>
            ),
          },
          {
            id: "actions",
            label: "",
            tight: true,
            cell: (row) => (
              <Menu
                small
                label={t("actions", { name: row.name })}
                items={
                  can("users:write") && !row.built_in
                    ? [
                        { label: t("edit"), icon: "edit", onSelect: () => setEdited(row) },
                        { label: t("delete"), icon: "trash", danger: true, onSelect: () => setDeleted(row) },
                      ]
                    : []
                }
              />
            ),
          },
        ]}
      />
      {edited ? <Edit role={edited === "new" ? null : edited} onClose={() => setEdited(null)} /> : null}
      {deleted ? (
        <Confirm
          title={t("deleteTitle", { name: deleted.name })}
          action={t("delete")}
          danger
          onClose={() => setDeleted(null)}
          onConfirm={() => void remove(deleted)}
        >
          <p>{t("deleteText")}</p>
        </Confirm>
      ) : null}
    </>
  );
}

function Edit({ role, onClose }: { role: Role | null; onClose: () => void }) {
  const [name, setName] = useState(role?.name ?? "");
  const [permissions, setPermissions] = useState<readonly string[]>(role?.permissions ?? []);
  const save = async () => {
    try {
      await api.put(apiPath("roles", name), { permissions });
      await invalidate("roles");
      onClose();
    } catch (error) {
      toast.failed(error);
    }
  };
  return (
    <Dialog
      title={role ? t("editTitle", { name: role.name }) : t("new")}
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <Button type="submit" kind="primary" disabled={!name}>
          {t("save")}
        </Button>
      }
    >
      {role ? null : <TextField label={t("name")} value={name} required onChange={(e) => setName(e.target.value)} />}
      <fieldset className="form-group">
        <legend>{t("permissions")}</legend>
        <div style={{ display: "grid", gridTemplateColumns: "1fr 1fr", gap: 8 }}>
          {PERMISSIONS.map((one) => (
            <Checkbox
              key={one}
              label={one}
              checked={permissions.includes(one)}
              onChange={(e) =>
                setPermissions(e.target.checked ? [...permissions, one] : permissions.filter((other) => other !== one))
              }
            />
          ))}
        </div>
      </fieldset>
    </Dialog>
  );
}
