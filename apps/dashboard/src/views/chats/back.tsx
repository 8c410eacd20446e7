import { Icon } from "../../parts/icon.tsx";
import { hrefOf } from "../../route/route.ts";
import { usePhone } from "../../state/use-media.ts";
import { t } from "../../texts/texts.ts";

/** On a phone the list is another screen. */
export function BackToChats() {
  if (!usePhone()) return null;
  return (
    <a class="icon-button" href={hrefOf("")} aria-label={t("common.back-to-chats")}>
      <Icon name="back" />
    </a>
  );
}
