import { useState } from "react";
import { api } from "../api/client";
import { apiPath, invalidate } from "../api/queries";
import { useCan } from "../api/session";
import type { ApiKey, CreatedKey } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Button, Confirm, Dialog, Id, Menu, TextField, Timestamp, toast } from "../ui";
import { ListPage } from "./ListPage";
import { RolePicker } from "./UsersPage";

const t = defineMessages("apiKeys", {
  title: "API keys",
  lead: "Keys for programs, sent in the X-Api-Key header",
  name: "Name",
  roles: "Roles",
  created: "Created",
  by: "by",
  expires: "Expires",
  never: "never",
  owner: "Owner",
  lastUsed: "Last used",
  new: "New key",
  expiresHint: "Leave empty for the default lifetime",
  make: "Create key",
  made: "New API key",
  madeText: "Copy the key now. It is shown only once. The server stores only its hash.",
  revoke: "Revoke",
  revokeTitle: "Revoke {name}?",
  revokeText: "Requests with this key are rejected from now on.",
  close: "Done",
  actions: "Actions: {name}",
  emptyTitle: "No API keys",
  empty: "Create one key per program, so that each key can be revoked separately.",
});

export function ApiKeysPage() {
  const can = useCan();
  const [making, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey | null>(null);
  const revoke = async (key: ApiKey) => {
    await api.delete(apiPath("api-keys", key.id)).catch(toast.failed);
    await invalidate("api-keys");
    setRevoked(null);
  };
  return (
    <>
      <ListPage<ApiKey>
        title={t("title")}
        lead={t("lead")}
        resource="api-keys"
        icon="key"
        emptyTitle={t("emptyTitle")}
        empty={t("empty")}
        id={(row) => row.id}
        name={(row) => row.name}
        actions={
          can("users:write") ? (
            <Button kind="primary" icon="add" onClick={() => setMaking(true)}>
              {t("new")}
            </Button>
          ) : undefined
        }
        columns={[
          { id: "name", label: t("name"), sort: "name", cell: (row) => <b>{row.name}</b> },
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
            id: "created",
            label: t("created"),
            sort: "created",
            cell: (row) => (
              <span className="quiet">
                <Timestamp at={row.created} /> {t("by")} {row.created_by}
              </span>
            ),
          },
          {
            id: "expires",
            label: t("expires"),
            sort: "expires",
            cell: (row) => (row.expires ? <Timestamp at={row.expires} /> : <span className="faint">{t("never")}</span>),
          },
          { id: "owner", label: t("owner"), sort: "owner", cell: (row) => row.owner },
          {
            id: "last_used",
            label: t("lastUsed"),
            sort: "last_used",
            cell: (row) =>
              row.last_used ? <Timestamp at={row.last_used} /> : <span className="faint">{t("never")}</span>,
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
                  can("users:write")
                    ? [{ label: t("revoke"), icon: "trash", danger: true, onSelect: () => setRevoked(row) }]
                    : []
                }
              />
            ),
          },
        ]}
      />
      {making ? <CreateKey onClose={() => setMaking(false)} /> : null}
      {revoked ? (
        <Confirm
          title={t("revokeTitle", { name: revoked.name })}
          action={t("revoke")}
          danger
          onClose={() => setRevoked(null)}
          onConfirm={() => void revoke(revoked)}
        >
          <p>{t("revokeText")}</p>
        </Confirm>
      ) : null}
    </>
  );
}

function CreateKey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [roles, setRoles] = useState<readonly string[]>([]);
  const [expires, setExpires] = useState("");
  const [made, setMade] = useState<CreatedKey | null>(null);
  const make = async () => {
    try {
      const body = { name, roles, ...(expires ? { expires: new Date(expires).toISOString() } : {}) };
      setMade(await api.post<CreatedKey>("/api/api-keys", body));
      await invalidate("api-keys");
    } catch (error) {
      toast.failed(error);
    }
  };
  if (made)
    return (
      <Dialog
        title={t("made")}
        onClose={onClose}
        foot={
          <Button kind="primary" onClick={onClose}>
            {t("close")}
          </Button>
        }
      >
        <p>{t("madeText")}</p>
        <div className="code">
          <Id id={made.key} />
        </div>
      </Dialog>
    );
  return (
    <Dialog
      title={t("new")}
      onClose={onClose}
      onSubmit={() => void make()}
      foot={
        <Button type="submit" kind="primary" disabled={!name || roles.length === 0}>
          {t("make")}
        </Button>
      }
    >
      <TextField label={t("name")} value={name} required onChange={(e) => setName(e.target.value)} />
      <RolePicker roles={roles} onChange={setRoles} />
      <TextField
        label={t("expires")}
        hint={t("expiresHint")}
        type="date"
        value={expires}
        onChange={(e) => setExpires(e.target.value)}
      />
    </Dialog>
  );
}
