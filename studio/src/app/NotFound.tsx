import { defineMessages } from "../i18n/messages";
import { Empty, LinkButton } from "../ui";

const t = defineMessages("notFound", {
  title: "Page not found",
  text: "The link may be incomplete or out of date.",
  home: "Go to definitions",
});

export function NotFound() {
  return (
    <Empty icon="search" title={t("title")} actions={<LinkButton to="/definitions">{t("home")}</LinkButton>}>
      {t("text")}
    </Empty>
  );
}
