import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { signOut, useCan, useSession } from "../api/session";
import { defineMessages } from "../i18n/messages";
import { PAGES, t as place } from "../navigation/pages";
import { usePlugins } from "../plugins/registry";
import { Icon, Toasts } from "../ui";
import { isDark, switchTheme, useTheme } from "../ui/theme";
import { CommandPalette } from "./CommandPalette";
import { PasswordDialog } from "./PasswordDialog";
import { SignIn } from "./SignIn";
import { Tour } from "./Tour";

const t = defineMessages("shell", {
  skip: "Skip to content",
  pages: "Pages",
  find: "Quick search",
  light: "Light theme",
  dark: "Dark theme",
  out: "Sign out",
  outAs: "Sign out {name}",
  password: "Change password of {name}",
  more: "More",
});

export function Shell() {
  const [palette, setPalette] = useState(false);
  const me = useSession((session) => session.me);
  useKeys(() => setPalette(true));
  return (
    <>
      <a className="skip-link" href="#content">
        {t("skip")}
      </a>
      <div className="shell">
        <Side onFind={() => setPalette(true)} />
        <main className="main" id="content" tabIndex={-1}>
          {me ? <Outlet /> : null}
        </main>
      </div>
      {palette ? <CommandPalette onClose={() => setPalette(false)} /> : null}
      {me ? <Tour /> : null}
      <SignIn />
      <Toasts />
    </>
  );
}

function Side({ onFind }: { onFind: () => void }) {
  const can = useCan();
  const me = useSession((session) => session.me);
  const hasAccount = useSession((session) => session.tokens !== null);
  const [password, setPassword] = useState(false);
  const { pages } = usePlugins();
  useTheme();
  return (
    <aside className="side">
      <Link to="/" className="brand" aria-label="Holdfast">
        <img src="./favicon.svg" alt="" />
        <span className="word">Holdfast</span>
      </Link>
      <button type="button" className="entry" onClick={onFind} title={t("find")}>
        <Icon name="search" />
        <span className="word grow">{t("find")}</span>
        <span aria-hidden="true">
          <kbd>Ctrl K</kbd>
        </span>
      </button>
      <nav aria-label={t("pages")}>
        {(["work", "operate", "manage"] as const).map((group) => {
          const shown = PAGES.filter((one) => one.group === group && can(one.needs));
          if (shown.length === 0) return null;
          return (
            <div key={group}>
              <div className="group">{place(group)}</div>
              {shown.map((one) => (
                <Link key={one.path} to={one.path} activeProps={{ className: "active" }} title={place(one.name)}>
                  <Icon name={one.icon} />
                  <span className="word">{place(one.name)}</span>
                </Link>
              ))}
            </div>
          );
        })}
        {pages.length > 0 && me ? (
          <div>
            <div className="group">{t("more")}</div>
            {pages.map((page) => (
              <Link
                key={page.path}
                to="/plugins/$path"
                params={{ path: page.path }}
                activeProps={{ className: "active" }}
              >
                <Icon name={page.icon ?? "star"} />
                <span className="word">{page.title}</span>
              </Link>
            ))}
          </div>
        ) : null}
      </nav>
      <div className="side-foot">
        <button type="button" className="entry" onClick={switchTheme} title={isDark() ? t("light") : t("dark")}>
          <Icon name={isDark() ? "sun" : "moon"} />
          <span className="word">{isDark() ? t("light") : t("dark")}</span>
        </button>
        {me && hasAccount ? (
          <button
            type="button"
            className="entry"
            onClick={() => setPassword(true)}
            title={t("password", { name: me.name })}
          >
            <Icon name="user" />
            <span className="word clip">{me.name}</span>
          </button>
        ) : null}
        {me ? (
          <button type="button" className="entry" onClick={() => void signOut()} title={t("outAs", { name: me.name })}>
            <Icon name="out" />
            <span className="word">{t("out")}</span>
          </button>
        ) : null}
      </div>
      {password ? <PasswordDialog onClose={() => setPassword(false)} /> : null}
    </aside>
  );
}

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Global shortcuts: Ctrl+K, and `g` with a letter for a page. */
function useKeys(open: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let going = false;
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        open();
        return;
      }
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        typing(event.target) ||
        document.querySelector("dialog[open]")
      )
        return;
      if (going) {
        going = false;
        const there = PAGES.find((one) => one.keys === `g ${event.key}`);
        if (there) {
          event.preventDefault();
          void navigate({ to: there.path });
        }
        return;
      }
      going = event.key === "g";
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [open, navigate]);
}
