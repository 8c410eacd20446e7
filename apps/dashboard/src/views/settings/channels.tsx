/** Channels: their state, and their set-up step by step. */
import type {
  ChannelReport,
  ChannelStatus,
  ChannelTest,
  InboxList,
  Settings,
  SettingsField,
  SettingsSection,
} from "@svc/api";
import { useId, useState } from "preact/hooks";
import { Button, CopyButton } from "../../components/button.tsx";
import { Command, Empty, Heading, Section } from "../../components/layout.tsx";
import { Problem, Shown } from "../../components/shown.tsx";
import { Table } from "../../components/table.tsx";
import { HelpText, ServiceText } from "../../components/text.tsx";
import { Ago, Badge } from "../../components/values.tsx";
import { useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { rich, t } from "../../texts/texts.ts";
import { MESSAGE_COLUMNS } from "../inbox.tsx";
import { LinkDevice } from "../overview/link-device.tsx";
import { VerifyDevice } from "../overview/verify-device.tsx";
import { SectionForm } from "./all-settings.tsx";
import { type SettingsEditor, useSettings } from "./draft.ts";
import { titleOf, valueAt } from "./keys.ts";
import { SaveBar } from "./save-bar.tsx";

const PREFIX = "channels_config.";

const channelsOf = ({ sections }: Settings): SettingsSection[] =>
  sections.filter(({ name }) => name.startsWith(PREFIX));

const useStates = () => useList<ChannelReport>("/api/channels", ["status"]);

export function ChannelSettings() {
  const settings = useSettings();
  const states = useStates();
  return (
    <>
      <Heading title={t("common.channels")} />
      <Shown read={settings.read}>
        {(state) => {
          const isSetUp = ({ path, core }: SettingsSection): boolean =>
            !core && valueAt(state.values, path) !== undefined;
          const all = channelsOf(state);
          return (
            <>
              <Section title={t("channels.set-up")}>
                {all.some(isSetUp) ? (
                  <ul class="setting-list">
                    {all.filter(isSetUp).map((section) => (
                      <ChannelRow
                        key={section.name}
                        section={section}
                        channel={channelIn(states.data?.channels, section)}
                      />
                    ))}
                  </ul>
                ) : (
                  <Empty title={t("channels.no-channel-yet")}>{t("channels.choose-one-below-to-write")}</Empty>
                )}
              </Section>
              <Section title={t("channels.add-a-channel")}>
                <ul class="setting-list">
                  {all
                    .filter((section) => !isSetUp(section))
                    .map((section) => (
                      <ChannelRow key={section.name} section={section} channel={undefined} />
                    ))}
                </ul>
              </Section>
              <Absent state={state} />
            </>
          );
        }}
      </Shown>
    </>
  );
}

const channelIn = (
  channels: readonly ChannelStatus[] | undefined,
  { name }: SettingsSection,
): ChannelStatus | undefined => channels?.find(({ id }) => `${PREFIX}${id}` === name);

function ChannelRow({ section, channel }: { section: SettingsSection; channel: ChannelStatus | undefined }) {
  const text = channel?.reason || section.summary;
  return (
    <li>
      <a href={hrefOf("channels", section.name.slice(PREFIX.length))}>{titleOf(section)}</a>
      <span class="hint">
        {channel && <Badge state={channel.state} />}{" "}
        {text ? <HelpText>{text}</HelpText> : t("channels.programs-of-yours-by-post")}
      </span>
    </li>
  );
}

function Absent({ state }: { readonly state: Settings }) {
  const absent = state.absent.filter(({ section }) => section.startsWith(PREFIX));
  if (absent.length === 0) return null;
  return (
    <Section title={t("channels.in-other-builds")}>
      <ul class="setting-list">
        {absent.map(({ section, flag, build, summary, planned }) => (
          <li key={`${section} ${flag}`}>
            <strong>
              <HelpText>{summary}</HelpText>
            </strong>
            <span class="hint">{planned ? t("common.not-written-yet") : <Command>{build}</Command>}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function OneChannel({ id }: { readonly id: string }) {
  const settings = useSettings();
  const states = useStates();
  const section = settings.read.data && channelsOf(settings.read.data).find(({ name }) => name === `${PREFIX}${id}`);
  const channel = states.data?.channels.find((each) => each.id === id);
  return (
    <>
      <Heading
        title={section ? titleOf(section) : t("common.channel")}
        start={
          <a class="heading-back" href={hrefOf("channels")}>
            {t("common.channels")}
          </a>
        }
      />
      <Shown read={settings.read}>
        {(state) =>
          section ? (
            <>
              <SaveBar settings={settings} />
              {channel && <State channel={channel} />}
              <Steps settings={settings} state={state} section={section} />
              {channel && <SendTest channel={channel.id} />}
              {channel && <LastMessages channel={channel.id} />}
            </>
          ) : (
            <Empty title={t("channels.this-build-has-no-such")} />
          )
        }
      </Shown>
    </>
  );
}

function State({ channel }: { readonly channel: ChannelStatus }) {
  const { state, reason, last_message_at: at, last_error: error, callback_urls: urls } = channel;
  return (
    <Section title={t("common.state")}>
      <p>
        <Badge state={state} /> {reason !== null && <ServiceText>{reason}</ServiceText>}{" "}
        <VerifyDevice channel={channel.id} /> <LinkDevice channel={channel.id} />
      </p>
      {reason !== null && <p class="hint">{t("channels.correct-the-settings-below-and")}</p>}
      <p class="hint">
        {rich("channels.last-message", { when: at ? <Ago at={at} /> : t("channels.none-yet") })}{" "}
        {error && (
          <>
            {rich("channels.last-error", {
              code: <code>{error.code}</code>,
              when: <Ago at={error.at} />,
              link: <a href={hrefOf("inbox", error.message)}>{error.message}</a>,
            })}
          </>
        )}
      </p>
      {urls.map((url) => (
        <p key={url}>
          {rich("channels.give-the-platform-this-address", { url: <code class="command">{url}</code> })}{" "}
          <CopyButton text={url}>{t("common.copy")}</CopyButton>
          {url.startsWith("/") && (
            <span class="hint">
              {" "}
              {rich("channels.set-first-so-that-it", {
                link: <a href={hrefOf("settings", "gateway")}>{t("channels.the-public-url")}</a>,
              })}
            </span>
          )}
        </p>
      ))}
    </Section>
  );
}

const SHOWN_MESSAGES = 8;

function LastMessages({ channel }: { readonly channel: string }) {
  const inbox = useList<InboxList>("/api/inbox", ["inbox"], { channel, limit: SHOWN_MESSAGES });
  const links = (
    <span class="hint">
      <a href={hrefOf("inbox", undefined, { channel })}>{t("common.all-messages")}</a>{" "}
      <a href={hrefOf("logs", undefined, { channel })}>{t("channels.its-log")}</a>
    </span>
  );
  return (
    <Section title={t("channels.last-messages")} aside={links}>
      <Shown read={inbox}>
        {({ messages }) =>
          messages.length === 0 ? (
            <Empty title={t("common.no-message-has-come-or")} />
          ) : (
            <Table
              label={t("channels.last-messages")}
              columns={MESSAGE_COLUMNS}
              rows={messages}
              keyOf={({ id }) => id}
            />
          )
        }
      </Shown>
    </Section>
  );
}

/** Who may write to the agent. */
const isAllowlist = ({ name }: SettingsField): boolean => /^(?:allowed|allow|senders|approvers)/.test(name);
const isAccess = (field: SettingsField): boolean =>
  field.name !== "enabled" && (field.required || field.secret === true || field.ask === true);

interface StepsProps {
  readonly settings: SettingsEditor;
  readonly state: Settings;
  readonly section: SettingsSection;
}

function Steps({ settings, state, section }: StepsProps) {
  const form = { settings, state, section };
  const enabled = [...section.path, "enabled"];
  const canTurnOff = section.fields.some(({ name }) => name === "enabled");
  const isThere = valueAt(state.values, section.path) !== undefined || section.core;
  const isOn = isThere && settings.draft.value(state, enabled) !== false;
  return (
    <>
      <Section title={t("channels.1-access")}>
        {section.summary !== undefined && (
          <p class="hint">
            <HelpText>{section.summary}</HelpText>
          </p>
        )}
        <p class="hint">{rich("channels.in-the-file", { name: <code>[{section.name}]</code> })}</p>
        <SectionForm {...form} only={isAccess} />
      </Section>
      {section.fields.some(isAllowlist) && (
        <Section title={t("channels.2-who-may-write")}>
          <SectionForm {...form} only={(field) => isAllowlist(field) && !isAccess(field)} />
        </Section>
      )}
      <Section title={section.fields.some(isAllowlist) ? t("channels.3-options") : t("channels.2-options")}>
        <details>
          <summary>{t("channels.all-options")}</summary>
          <SectionForm
            {...form}
            only={(field) => !isAccess(field) && !isAllowlist(field) && field.name !== "enabled"}
          />
        </details>
      </Section>
      {canTurnOff && (
        <p>
          <Button kind={isOn ? "plain" : "main"} onPress={() => settings.set(enabled, !isOn)}>
            {isOn ? t("channels.turn-off") : t("channels.turn-on")}
          </Button>
        </p>
      )}
    </>
  );
}

/** Sends a test message to a channel and shows the result. */
const SENT: Readonly<Record<string, "channels.sent" | "channels.refused">> = {
  sent: "channels.sent",
  dead: "channels.refused",
};

function SendTest({ channel }: { readonly channel: string }) {
  const { api } = useServices();
  const [to, setTo] = useState("");
  const [report, setReport] = useState<ChannelTest>();
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
