/** Channels: how each is, how one is set up step by step, and whether a message gets through. */
import { useId, useState } from "preact/hooks";
import type { Channel, Inbox } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { MAIL_COLUMNS } from "../inbox/mail-columns.tsx";
import { LinkDevice } from "../overview/link-device.tsx";
import { VerifyDevice } from "../overview/verify-device.tsx";
import { SectionForm } from "./all-settings.tsx";
import { SaveBar } from "./save-bar.tsx";
import { type Field, type SettingsSection, type SettingsState, titleOf, valueAt } from "./shapes.ts";
import { type Settings, useSettings } from "./use-settings.ts";

const PREFIX = "channels_config.";

const channelsOf = ({ sections }: SettingsState): SettingsSection[] =>
  sections.filter(({ name }) => name.startsWith(PREFIX));

const useStates = () => useList<{ readonly channels: readonly Channel[] }>("/api/channels", ["status"]);

export function ChannelSettings() {
  const settings = useSettings();
  const states = useStates();
  return (
    <>
      <Heading title="Channels" />
      <Shown read={settings.read}>
        {(state) => {
          const isSetUp = ({ path, core }: SettingsSection): boolean =>
            !core && valueAt(state.values, path) !== undefined;
          const all = channelsOf(state);
          return (
            <>
              <Section title="Set up">
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
                  <Empty title="No channel yet.">Choose one below to write with the agent from there.</Empty>
                )}
              </Section>
              <Section title="Add a channel">
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

const channelIn = (channels: readonly Channel[] | undefined, { name }: SettingsSection): Channel | undefined =>
  channels?.find(({ id }) => `${PREFIX}${id}` === name);

function ChannelRow({ section, channel }: { section: SettingsSection; channel: Channel | undefined }) {
  return (
    <li>
      <a href={hrefOf("channels", section.name.slice(PREFIX.length))}>{titleOf(section)}</a>
      <span class="hint">
        {channel && <Badge state={channel.state} />}{" "}
        {channel?.reason ? <Name>{channel.reason}</Name> : (section.summary ?? "Programs of yours, by POST /webhook")}
      </span>
    </li>
  );
}

function Absent({ state }: { readonly state: SettingsState }) {
  const absent = state.absent.filter(({ section }) => section.startsWith(PREFIX));
  if (absent.length === 0) return null;
  return (
    <Section title="In other builds">
      <ul class="setting-list">
        {absent.map(({ section, flag, build, summary, planned }) => (
          <li key={`${section} ${flag}`}>
            <strong>{summary}</strong>
            <span class="hint">{planned ? "Not written yet." : <Command>{build}</Command>}</span>
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
        title={section ? titleOf(section) : "Channel"}
        start={
          <a class="heading-back" href={hrefOf("channels")}>
            Channels
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
              {channel && <Try channel={channel} />}
              {channel && <LastMessages channel={channel.id} />}
            </>
          ) : (
            <Empty title="This build has no such channel." />
          )
        }
      </Shown>
    </>
  );
}

function State({ channel }: { readonly channel: Channel }) {
  const { state, reason, last_message_at: at, last_error: error, callback_urls: urls } = channel;
  return (
    <Section title="State">
      <p>
        <Badge state={state} /> {reason !== null && <Name>{reason}</Name>} <VerifyDevice channel={channel.id} />{" "}
        <LinkDevice channel={channel.id} />
      </p>
      {reason !== null && (
        <p class="hint">
          Correct the settings below and save. Messages wait meanwhile, and are sent when the channel is back.
        </p>
      )}
      <p class="hint">
        Last message: {at ? <Ago at={at} /> : "none yet"}.{" "}
        {error && (
          <>
            Last error: <code>{error.code}</code>, <Ago at={error.at} />
            {", "}
            <a href={hrefOf("inbox", error.message)}>{error.message}</a>.
          </>
        )}
      </p>
      {urls.map((url) => (
        <p key={url}>
          Give the platform this address to call: <code class="command">{url}</code>{" "}
          <CopyButton text={url}>Copy</CopyButton>
          {url.startsWith("/") && (
            <span class="hint">
              {" "}
              Set <a href={hrefOf("settings", "gateway")}>the public URL</a> first, so that it is a whole address.
            </span>
          )}
        </p>
      ))}
    </Section>
  );
}

const SHOWN_MESSAGES = 8;

function LastMessages({ channel }: { readonly channel: string }) {
  const inbox = useList<Inbox>("/api/inbox", ["inbox"], { channel, limit: SHOWN_MESSAGES });
  const links = (
    <span class="hint">
      <a href={hrefOf("inbox", undefined, { channel })}>All messages</a>{" "}
      <a href={hrefOf("logs", undefined, { channel })}>Its log</a>
    </span>
  );
  return (
    <Section title="Last messages" aside={links}>
      <Shown read={inbox}>
        {({ messages }) =>
          messages.length === 0 ? (
            <Empty title="No message has come or gone yet." />
          ) : (
            <Table label="Last messages" columns={MAIL_COLUMNS} rows={messages} keyOf={({ id }) => id} />
          )
        }
      </Shown>
    </Section>
  );
}

/** Who may write to the agent. */
const isAllowlist = ({ name }: Field): boolean => /^(?:allowed|allow|senders|approvers)/.test(name);
const isAccess = (field: Field): boolean =>
  field.name !== "enabled" && (field.required || field.secret === true || field.ask === true);

interface StepsProps {
  readonly settings: Settings;
  readonly state: SettingsState;
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
      <Section title="1. Access">
        <p class="hint">
          {section.summary}. In the file: <code>[{section.name}]</code>
        </p>
        <SectionForm {...form} only={isAccess} />
      </Section>
      {section.fields.some(isAllowlist) && (
        <Section title="2. Who may write">
          <SectionForm {...form} only={(field) => isAllowlist(field) && !isAccess(field)} />
        </Section>
      )}
      <Section title={section.fields.some(isAllowlist) ? "3. Options" : "2. Options"}>
        <details>
          <summary>All options</summary>
          <SectionForm
            {...form}
            only={(field) => !isAccess(field) && !isAllowlist(field) && field.name !== "enabled"}
          />
        </details>
      </Section>
      {canTurnOff && (
        <p>
          <Button kind={isOn ? "plain" : "main"} onPress={() => settings.set(enabled, !isOn)}>
            {isOn ? "Turn off" : "Turn on"}
          </Button>
        </p>
      )}
    </>
  );
}

function Try({ channel: { id, state } }: { readonly channel: Channel }) {
  const { api } = useServices();
  const [to, setTo] = useState("");
  const [report, setReport] = useState<{ readonly state: string; readonly error: string | null }>();
  const field = useId();
  const send = useAction(async () => {
    setReport(undefined);
    setReport(await api.call("/api/settings/channel-test", { method: "POST", body: { channel: id, to: to.trim() } }));
  });
  return (
    <Section title="Send me a test">
      <div class="setting">
        <label for={field}>To</label>
        <input id={field} value={to} onInput={({ currentTarget }) => setTo(currentTarget.value)} />
        <p class="hint">Your conversation with the bot, as the channel names it: a number, a user's or a chat's id.</p>
        <div class="buttons">
          <Button
            busy={send.isRunning}
            disabled={to.trim() === "" || state === "failed"}
            onPress={() => void send.run()}
          >
            Send a test
          </Button>
        </div>
        {report && (
          <p class={report.error === null ? "notice good" : "setting-problem"} role="status">
            {report.state === "sent" ? "Sent." : `State: ${report.state}.`}{" "}
            {report.error !== null && <Name>{report.error}</Name>}
          </p>
        )}
        <Problem error={send.error} />
      </div>
    </Section>
  );
}
