import { useState } from "react";
import { signIn, useSession } from "../api/session";
import { defineMessages } from "../i18n/messages";
import { Button, Dialog, TextField } from "../ui";

const t = defineMessages("signIn", {
  title: "Sign in",
  again: "Sign in again",
  againText: "Your session has expired. Sign in to continue. Your work on this page is kept.",
  user: "User",
  password: "Password",
  enter: "Sign in",
  first: "On its first start, the server prints the initial password unless HOLDFAST_ADMIN_PASSWORD sets it.",
});

/** Shown above the current page, so that an expired session loses no edits. */
export function SignIn() {
  const { me, signInNeeded } = useSession();
  const [typed, setUser] = useState<string>();
  const user = typed ?? me?.id ?? "";
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  if (!signInNeeded) return null;
  const send = async () => {
    setBusy(true);
    try {
      await signIn(user, password);
      setPassword("");
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={me ? t("again") : t("title")}
      onClose={() => undefined}
      closable={false}
      onSubmit={() => void send()}
      foot={
        <Button type="submit" kind="primary" busy={busy}>
          {t("enter")}
        </Button>
      }
    >
      {me ? <p className="quiet">{t("againText")}</p> : null}
      <TextField
        label={t("user")}
        value={user}
        autoComplete="username"
        required
        onChange={(e) => setUser(e.target.value)}
      />
      <TextField
        label={t("password")}
        type="password"
        value={password}
        autoComplete="current-password"
        required
        problem={problem}
        hint={me ? undefined : t("first")}
        onChange={(e) => setPassword(e.target.value)}
      />
    </Dialog>
  );
}
