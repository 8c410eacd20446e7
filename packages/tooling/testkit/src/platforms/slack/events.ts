/**
 * What the platform tells an app, whichever way it goes.
 * https://docs.slack.dev/apis/events-api#events-JSON, https://docs.slack.dev/reference/interaction-payloads/block_actions-payload,
 * https://docs.slack.dev/interactivity/implementing-slash-commands
 */
import type { Json } from "@svc/contract";
import { hash } from "node:crypto";
import type { SeenButton } from "./blocks.ts";
import { encoded } from "./mrkdwn.ts";
import { type ConversationKind, SLACK_BOT, SLACK_TEAM, slackDmOf } from "./workspace.ts";

export interface SlackMessage {
  /** A timestamp of the platform's, or anything that tells it from others of the same second. */
  readonly id: string;
  /** As it was typed. */
  readonly text: string;
  readonly from: string;
  readonly atMs: number;
  /** Default: the direct messages of who wrote it. */
  readonly channel?: string;
  readonly kind?: ConversationKind;
  readonly threadTs?: string;
  readonly files?: readonly Json[];
  /** Replaces fields of the event. */
  readonly event?: Readonly<Record<string, Json>>;
}

/** The same for the same id and time. */
export function slackTs(id: string, atMs: number): string {
  if (/^\d{10}\.\d{6}$/.test(id)) return id;
  const fraction = Number.parseInt(hash("sha256", id).slice(0, 8), 16) % 1_000_000;
  return `${Math.floor(atMs / 1000)}.${String(fraction).padStart(6, "0")}`;
}

/** A message as an event, in its wrapper. */
export function slackMessageEvent(message: SlackMessage): Json {
  const { id, text, from, atMs, threadTs, files, event = {} } = message;
  const { channel = slackDmOf(from), kind = "im" } = message;
  const ts = slackTs(id, atMs);
  return slackEvent(
    {
      client_msg_id: "a24a5e53-5b3d-4c4d-9c6d-3b1a0c0f4b52",
      type: "message",
      user: from,
      team: SLACK_TEAM.id,
      text: encoded(text),
      ts,
      event_ts: ts,
      channel,
      channel_type: kind,
      ...(threadTs !== undefined && { thread_ts: threadTs, parent_user_id: from }),
      ...(files !== undefined && { subtype: "file_share", files, upload: false }),
      ...event,
    },
    atMs,
  );
}

/** The same message as an app is told that it is mentioned. */
export function slackMention(message: SlackMessage & { readonly channel: string }): Json {
  const { id, text, from, atMs, channel, threadTs, files } = message;
  const ts = slackTs(id, atMs);
  const event = {
    type: "app_mention",
    user: from,
    text,
    ts,
    event_ts: ts,
    channel,
    team: SLACK_TEAM.id,
    ...(threadTs !== undefined && { thread_ts: threadTs }),
    ...(files !== undefined && { files }),
  };
  return slackEvent(event, atMs);
}

/** Any event in its wrapper. */
export function slackEvent(event: Readonly<Record<string, Json>>, atMs: number): Json {
  return {
    token: "one-long-verification-token",
    team_id: SLACK_TEAM.id,
    api_app_id: SLACK_BOT.app,
    event,
    type: "event_callback",
    // Of two events about one message it is another.
    event_id: `Ev${hash("sha256", JSON.stringify(event)).slice(0, 9).toUpperCase()}`,
    event_time: Math.floor(atMs / 1000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: SLACK_TEAM.id,
        user_id: SLACK_BOT.user,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: false,
    event_context: "4-eyJldCI6Im1lc3NhZ2UifQ",
  };
}

export interface SlackPress {
  readonly from: string;
  readonly channel: string;
  /** Of the message with the button. */
  readonly ts: string;
  readonly threadTs?: string | undefined;
  readonly button: SeenButton;
  readonly atMs: number;
  /** Tells two presses of one second apart. */
  readonly id: string;
}

export function slackPress({ from, channel, ts, threadTs, button, atMs, id }: SlackPress): Json {
  const actionTs = slackTs(id, atMs);
  return {
    type: "block_actions",
    user: { id: from, username: from.toLowerCase(), name: from.toLowerCase(), team_id: SLACK_TEAM.id },
    api_app_id: SLACK_BOT.app,
    token: "one-long-verification-token",
    container: { type: "message", message_ts: ts, channel_id: channel, is_ephemeral: false },
    trigger_id: `${actionTs}.${hash("sha256", id).slice(0, 16)}`,
    team: { id: SLACK_TEAM.id, domain: SLACK_TEAM.domain },
    enterprise: null,
    is_enterprise_install: false,
    channel: { id: channel, name: "directmessage" },
    message: {
      type: "message",
      user: SLACK_BOT.user,
      bot_id: SLACK_BOT.bot,
      ts,
      text: "A question",
      ...(threadTs !== undefined && { thread_ts: threadTs }),
    },
    state: { values: {} },
    response_url: "https://hooks.slack.com/actions/T0123ABCD/1/response",
    actions: [
      {
        action_id: button.actionId,
        block_id: button.blockId,
        text: { type: "plain_text", text: button.label, emoji: true },
        value: button.value,
        type: "button",
        action_ts: actionTs,
      },
    ],
  };
}

export interface SlackCommand {
  readonly from: string;
  readonly command: string;
  readonly text: string;
  /** Default: the direct messages of who wrote it. */
  readonly channel?: string;
  readonly id: string;
}

export const slackCommand = ({
  from,
  command,
  text,
  channel = slackDmOf(from),
  id,
}: SlackCommand): Record<string, string> => ({
  token: "one-long-verification-token",
  team_id: SLACK_TEAM.id,
  team_domain: SLACK_TEAM.domain,
  channel_id: channel,
  channel_name: "directmessage",
  user_id: from,
  user_name: from.toLowerCase(),
  command,
  text,
  api_app_id: SLACK_BOT.app,
  is_enterprise_install: "false",
  response_url: "https://hooks.slack.com/commands/T0123ABCD/1/response",
  trigger_id: `1.2.${hash("sha256", id).slice(0, 16)}`,
});
