import type { Mail } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Name } from "../../parts/name.tsx";
import type { Column } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { t } from "../../texts/texts.ts";

/** Includes the reason for waiting, unless it only waits for its turn. */
export const shownState = ({ state, waits_for: what }: Mail): string =>
  what === null ? state : `${state}_for_${what}`;

export const MAIL_COLUMNS: readonly Column<Mail>[] = [
  {
    label: "common.message",
    cell: ({ id }) => (
      <a class="mail-id" href={hrefOf("inbox", id)}>
        {id}
      </a>
    ),
    narrow: true,
  },
  { label: "common.state", cell: (mail) => <Badge state={shownState(mail)} />, narrow: true },
  {
    label: "inbox.where",
    cell: ({ channel, conversation, sender }) => (
      <>
        <Name>{channel}</Name> <span class="hint">{<Name>{sender ?? conversation?.id ?? ""}</Name>}</span>
      </>
    ),
  },
  { label: "inbox.text", cell: ({ text }) => <span class="clip">{<Name>{text}</Name>}</span> },
  {
    label: "common.problem",
    cell: ({ error, attempts }) =>
      error === null ? (
        t("common.none")
      ) : (
        <>
          <code>{error}</code> {t("inbox.attempts", { n: attempts })}
        </>
      ),
    narrow: true,
  },
  { label: "common.when", cell: ({ at }) => <Ago at={at} />, narrow: true },
];
