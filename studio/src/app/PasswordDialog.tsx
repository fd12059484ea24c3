import { useState } from "react";
import { ApiError } from "../api/errors";
import { changePassword, useSession } from "../api/session";
import { defineMessages } from "../i18n/messages";
import { Button, Dialog, TextField, toast } from "../ui";

const t = defineMessages("password", {
  title: "Change your password",
  text: "You stay signed in here. All other sessions of {user} end.",
  current: "Current password",
  next: "New password",
  again: "Repeat new password",
  wrong: "The current password is wrong.",
  differ: "The passwords do not match.",
  change: "Change",
  done: "Password changed",
});

export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const user = useSession((session) => session.me?.id ?? "");
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const differ = again !== "" && next !== again;
  const send = async () => {
    if (next !== again) return;
    setBusy(true);
    try {
      await changePassword(current, next);
      toast.done(t("done"));
      onClose();
    } catch (error) {
      // The server does not distinguish a wrong user from a wrong password. The user is known to be right here.
      setProblem(
        error instanceof ApiError && error.status === 401
          ? t("wrong")
          : error instanceof Error
            ? error.message
            : String(error),
      );
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("title")}
      onClose={onClose}
      onSubmit={() => void send()}
      foot={
        <Button type="submit" kind="primary" busy={busy} disabled={differ}>
          {t("change")}
        </Button>
      }
    >
      <p className="quiet">{t("text", { user })}</p>
      {problem ? (
        <p className="banner bad" role="alert">
          {problem}
        </p>
      ) : null}
      <input type="hidden" autoComplete="username" value={user} readOnly />
      <TextField
        label={t("current")}
        type="password"
        autoComplete="current-password"
        required
        value={current}
        onChange={(e) => setCurrent(e.target.value)}
      />
      <TextField
        label={t("next")}
        type="password"
        autoComplete="new-password"
        required
        value={next}
        onChange={(e) => setNext(e.target.value)}
      />
      <TextField
        label={t("again")}
        type="password"
        autoComplete="new-password"
        required
        value={again}
        problem={differ ? t("differ") : undefined}
        onChange={(e) => setAgain(e.target.value)}
      />
    </Dialog>
  );
}
