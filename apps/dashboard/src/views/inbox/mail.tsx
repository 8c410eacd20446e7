/** One message, what went out for it, and what can still be done about it. */
import { path } from "../../api/client.ts";
import type { MailDetail } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirmed } from "../../parts/confirmed.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Json } from "../../parts/json.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Name, Prose } from "../../parts/name.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { MAIL_COLUMNS, shownState } from "./mail-columns.tsx";
import { number, t, wordOf } from "../../texts/texts.ts";

/** States that a message can be taken up from again, or given up in. */
const REPLAYABLE = new Set(["failed", "dead", "dropped"]);

export function Mail({ id }: { readonly id: string }) {
  const { api, live } = useServices();
  const mail = useList<MailDetail>(path`/api/inbox/${id}`, ["inbox"]);
  const changed = (): void => live.markStale(["inbox", "status"]);
  const replay = useAction(() => api.call(path`/api/inbox/${id}/replay`, { method: "POST" }).finally(changed));
  const drop = (): Promise<unknown> => api.call(path`/api/inbox/${id}`, { method: "DELETE" }).finally(changed);
  const undelivered = mail.data?.deliveries.some(({ state }) => REPLAYABLE.has(state)) ?? false;
  const canReplay = mail.data !== undefined && (REPLAYABLE.has(mail.data.state) || undelivered);
  return (
    <>
      <Heading title={t("inbox.message", { id })}>
        {canReplay && (
          <Button kind="main" busy={replay.isRunning} onPress={() => void replay.run()}>
            {t("common.try-again")}
          </Button>
        )}
        {mail.data !== undefined && ["waiting", "failed", "dead"].includes(mail.data.state) && (
          <Confirmed text={t("inbox.drop")} question={t("inbox.give-this-message-up")} act={drop}>
            <p>{t("inbox.stopped-trying")}</p>
          </Confirmed>
        )}
      </Heading>
      <Problem error={replay.error} />
      <Shown read={mail}>{(shown) => <Detail mail={shown} />}</Shown>
      <p>
        <a href={hrefOf("inbox")}>{t("common.all-messages")}</a>
      </p>
    </>
  );
}

function Detail({ mail }: { readonly mail: MailDetail }) {
  const optional = (text: string | null) => (text === null ? undefined : <Name>{text}</Name>);
  return (
    <>
      <Facts
        facts={[
          [t("common.state"), <Badge state={shownState(mail)} />],
          [t("common.kind"), wordOf(mail.kind)],
          [t("common.channel"), <Name>{mail.channel}</Name>],
          [t("common.conversation"), optional(mail.conversation?.id ?? null)],
          [t("inbox.from"), optional(mail.sender)],
          [t("common.when"), <Ago at={mail.at} />],
          [t("inbox.attempts-made"), number(mail.attempts)],
          [t("common.problem"), mail.error === null ? undefined : <code>{mail.error}</code>],
          [t("inbox.the-platform-says"), optional(mail.platform_reason ?? mail.platform_status)],
          [t("inbox.id-at-the-platform"), optional(mail.platform_id)],
          [t("inbox.turn"), optional(mail.turn_id)],
        ]}
      />
      <div class="card">{mail.id.startsWith("out-") ? <Markdown text={mail.text} /> : <Prose>{mail.text}</Prose>}</div>
      {mail.files.length > 0 && (
        <ul>
          {mail.files.map(({ kind, name }, index) => (
            <li key={index}>
              {wordOf(kind)}: <Name>{name}</Name>
            </li>
          ))}
        </ul>
      )}
      {mail.notice === null ? null : <Json label={t("inbox.the-notice")} value={mail.notice} />}
      {mail.deliveries.length > 0 && (
        <Section title={t("inbox.what-went-out-for-it")}>
          <Table label={t("inbox.deliveries")} columns={MAIL_COLUMNS} rows={mail.deliveries} keyOf={({ id }) => id} />
        </Section>
      )}
    </>
  );
}
