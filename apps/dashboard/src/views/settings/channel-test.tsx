/** "Send me a test" of a channel: whether the message came, and what to do when it did not. */
import { useId, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { ServiceText } from "../../parts/service-text.tsx";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { t } from "../../texts/texts.ts";

interface TestReport {
  readonly state: string;
  readonly error: string | null;
  readonly hint: string | null;
}

const SENT: Readonly<Record<string, "channels.sent" | "channels.refused">> = {
  sent: "channels.sent",
  dead: "channels.refused",
};

export function ChannelTest({ channel }: { readonly channel: string }) {
  const { api } = useServices();
  const [to, setTo] = useState("");
  const [report, setReport] = useState<TestReport>();
  const field = useId();
  const send = useAction(async () => {
    setReport(undefined);
    setReport(await api.call("/api/settings/channel-test", { method: "POST", body: { channel, to: to.trim() } }));
  });
  return (
    <Section title={t("channels.send-me-a-test")}>
      <div class="setting">
        <label for={field}>{t("channels.to")}</label>
        <input id={field} value={to} onInput={({ currentTarget }) => setTo(currentTarget.value)} />
        <p class="hint">{t("channels.your-conversation-with-the-bot")}</p>
        <div class="buttons">
          <Button busy={send.isRunning} disabled={to.trim() === ""} onPress={() => void send.run()}>
            {t("channels.send-a-test")}
          </Button>
        </div>
        {report && (
          <p class={report.error === null ? "notice good" : "setting-problem"} role="status">
            {t(SENT[report.state] ?? "channels.not-sent-yet")}{" "}
            {report.error !== null && <ServiceText>{report.error}</ServiceText>}{" "}
            {report.hint !== null && <ServiceText>{report.hint}</ServiceText>}
          </p>
        )}
        <Problem error={send.error} />
      </div>
    </Section>
  );
}
