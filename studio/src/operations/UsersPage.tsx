import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { apiPath, invalidate, list } from "../api/queries";
import { useCan } from "../api/session";
import type { Role, User } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Button, Checkbox, Confirm, Dialog, Menu, TextField, Timestamp, toast } from "../ui";
import { ListPage } from "./ListPage";

const t = defineMessages("users", {
  title: "Users",
  lead: "Accounts that can sign in",
  id: "User",
  name: "Name",
  roles: "Roles",
  state: "State",
  active: "Active",
  inactive: "Locked",
  created: "Created",
  new: "New user",
  edit: "Edit",
  editTitle: "Edit {name}",
  delete: "Delete",
  deleteTitle: "Delete {name}?",
  deleteText: "All sessions of this user end immediately. Journals keep the name of the user.",
  password: "Password",
  newPassword: "New password",
  newPasswordHint: "Leave empty to keep the current password",
  save: "Save",
  actions: "Actions: {name}",
  emptyTitle: "No users",
  empty: "Create an account for each person.",
});

export function UsersPage() {
  const can = useCan();
  const [edited, setEdited] = useState<User | "new" | null>(null);
  const [deleted, setDeleted] = useState<User | null>(null);
  const remove = async (user: User) => {
    await api.delete(apiPath("users", user.id)).catch(toast.failed);
    await invalidate("users");
    setDeleted(null);
  };
  return (
    <>
      <ListPage<User>
        title={t("title")}
        lead={t("lead")}
        resource="users"
        icon="user"
        emptyTitle={t("emptyTitle")}
        empty={t("empty")}
        id={(row) => row.id}
        name={(row) => row.name}
        actions={
          can("users:write") ? (
            <Button kind="primary" icon="add" onClick={() => setEdited("new")}>
              {t("new")}
            </Button>
          ) : undefined
        }
        columns={[
          { id: "id", label: t("id"), sort: "id", cell: (row) => <b>{row.id}</b> },
          { id: "name", label: t("name"), sort: "name", cell: (row) => row.name },
          {
            id: "roles",
            label: t("roles"),
            sort: "roles",
            cell: (row) => (
              <span className="row" style={{ gap: 4 }}>
                {row.roles.map((role) => (
                  <Badge key={role}>{role}</Badge>
                ))}
              </span>
            ),
          },
          {
            id: "state",
            label: t("state"),
            sort: "active",
            cell: (row) => <Badge tone={row.active ? "ok" : "off"}>{row.active ? t("active") : t("inactive")}</Badge>,
          },
          { id: "created", label: t("created"), sort: "created", cell: (row) => <Timestamp at={row.created} /> },
          {
            id: "actions",
            label: "",
            tight: true,
            cell: (row) => (
              <Menu
                small
                label={t("actions", { name: row.id })}
                items={
                  can("users:write")
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
      {edited ? <Edit user={edited === "new" ? null : edited} onClose={() => setEdited(null)} /> : null}
      {deleted ? (
        <Confirm
          title={t("deleteTitle", { name: deleted.id })}
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

function Edit({ user, onClose }: { user: User | null; onClose: () => void }) {
  const [id, setId] = useState(user?.id ?? "");
  const [name, setName] = useState(user?.name ?? "");
  const [password, setPassword] = useState("");
  const [roles, setRoles] = useState<readonly string[]>(user?.roles ?? []);
  const [active, setActive] = useState(user?.active ?? true);
  const [problem, setProblem] = useState<string>();
  const save = async () => {
    try {
      if (user) await api.patch(apiPath("users", user.id), { name, roles, active, ...(password ? { password } : {}) });
      else await api.post("/api/users", { user: id, password, roles, ...(name ? { name } : {}) });
      await invalidate("users");
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog
      title={user ? t("editTitle", { name: user.id }) : t("new")}
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <Button type="submit" kind="primary" disabled={!user && (!id || !password)}>
          {t("save")}
        </Button>
      }
    >
      {user ? null : (
        <TextField label={t("id")} value={id} required autoComplete="off" onChange={(e) => setId(e.target.value)} />
      )}
      <TextField label={t("name")} value={name} onChange={(e) => setName(e.target.value)} />
      <TextField
        label={user ? t("newPassword") : t("password")}
        hint={user ? t("newPasswordHint") : undefined}
        type="password"
        autoComplete="new-password"
        required={!user}
        value={password}
        problem={problem}
        onChange={(e) => setPassword(e.target.value)}
      />
      <RolePicker roles={roles} onChange={setRoles} />
      {user ? <Checkbox label={t("active")} checked={active} onChange={(e) => setActive(e.target.checked)} /> : null}
    </Dialog>
  );
}

export function RolePicker({
  roles,
  onChange,
}: {
  roles: readonly string[];
  onChange: (roles: readonly string[]) => void;
}) {
  const known = useQuery(list<Role>("roles"));
  return (
    <fieldset className="form-group">
      <legend>{t("roles")}</legend>
      <div className="row wrap" style={{ gap: 16 }}>
        {(known.data?.items ?? []).map((role) => (
          <Checkbox
            key={role.name}
            label={role.name}
            checked={roles.includes(role.name)}
            onChange={(e) =>
              onChange(e.target.checked ? [...roles, role.name] : roles.filter((one) => one !== role.name))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
