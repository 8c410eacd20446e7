/** Beside the list: a new chat at once. On a phone, the list itself. */
import { Heading } from "../../parts/heading.tsx";
import { useMayOperate } from "../../session/use-device.ts";
import { usePhone } from "../../state/use-media.ts";
import { NewChat } from "../sessions/new-chat.tsx";
import { Chats } from "./chats.tsx";
import { t } from "../../texts/texts.ts";

export function Home() {
  const isPhone = usePhone();
  const mayOperate = useMayOperate();
  if (isPhone) return <Chats current={undefined} isAlone />;
  if (mayOperate) return <NewChat />;
  return (
    <>
      <Heading title={t("chats.select-a-conversation")} />
      <p class="hint">{t("chats.this-device-can-read-conversations")}</p>
    </>
  );
}
