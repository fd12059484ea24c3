import { defineMessages } from "../i18n/messages";
import { Empty, LinkButton } from "../ui";

const t = defineMessages("notFound", {
  title: "There is no such page",
  text: "The address may have been cut off when it was copied.",
  home: "To the definitions",
});

export function NotFound() {
  return (
    <Empty icon="search" title={t("title")} actions={<LinkButton to="/definitions">{t("home")}</LinkButton>}>
      {t("text")}
    </Empty>
  );
}
