import type { Mail } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Name } from "../../parts/name.tsx";
import type { Column } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { count } from "../../text/words.ts";

/** With what it waits for, where that is more than its turn. */
export const shownState = ({ state, waits_for: what }: Mail): string =>
  what === null ? state : `${state}_for_${what}`;

export const MAIL_COLUMNS: readonly Column<Mail>[] = [
  { label: "Message", cell: ({ id }) => <a href={hrefOf("inbox", id)}>{id}</a>, narrow: true },
  { label: "State", cell: (mail) => <Badge state={shownState(mail)} />, narrow: true },
  {
    label: "Where",
    cell: ({ channel, conversation, sender }) => (
      <>
        <Name>{channel}</Name> <span class="hint">{<Name>{sender ?? conversation?.id ?? ""}</Name>}</span>
      </>
    ),
  },
  { label: "Text", cell: ({ text }) => <span class="clip">{<Name>{text}</Name>}</span> },
  {
    label: "Problem",
    cell: ({ error, attempts }) =>
      error === null ? (
        "none"
      ) : (
        <>
          <code>{error}</code> {count(attempts, "attempt")}
        </>
      ),
    narrow: true,
  },
  { label: "When", cell: ({ at }) => <Ago at={at} />, narrow: true },
];
