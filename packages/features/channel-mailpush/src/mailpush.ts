/** One mailbox: pushes say that there is mail, its history says which, answers are mails in the thread. */
import type { Channel, Contributions, FeatureContext } from "@svc/contract";
import { asCheckFailure, createAccessTokens, pathPart } from "@svc/kit";
import { createMailApi } from "./api.ts";
import { createMedia } from "./attachments.ts";
import type { Config } from "./config.ts";
import { inboundReader } from "./inbound.ts";
import { ownAddress, readPlace, readProfile } from "./mailbox.ts";
import { createIngress, createSigningKeys, toldOf } from "./push.ts";
import { sender } from "./reply.ts";
import { runLoop } from "./run.ts";
import { setUp } from "./setup.ts";
import { createSync } from "./sync.ts";
import { createLabels, createWatch } from "./watch.ts";

/** Mail has no length limit; no reader needs more than this. */
const MAX_TEXT_CHARS = 200_000;

export function create(context: FeatureContext<Config>): Contributions {
  const { config, state, clock } = context;
  const tokens = createAccessTokens({
    accessToken: config.oauth_token,
    refreshToken: config.refresh_token,
    clientId: config.client_id,
    clientSecret: config.client_secret,
    tokenUrl: config.token_url,
    withoutToken: "Set refresh_token, client_id and client_secret in [channels_config.mailpush], or oauth_token.",
    fetch: context.fetch,
    clock,
  });
  const api = createMailApi(context, tokens);
  const address = ownAddress(api);
  const labels = createLabels(api, config.label_filter);
  const watch = createWatch({ api, address, labels, topic: config.topic, state, clock });
  const historyNow = async (signal: AbortSignal): Promise<string> =>
    (await readProfile(api, signal))?.historyId ?? (await watch.renew(signal)).historyId;
  const sync = createSync({ api, labels, historyNow, context, inboundOf: inboundReader(context, address) });
  const keys = createSigningKeys(context);

  const check = async (signal: AbortSignal): Promise<string> => {
    const profile = await readProfile(api, signal).catch(asCheckFailure);
    const endsAtMs = await watch.endsAtMs();
    const until = endsAtMs === undefined ? "" : ` until ${new Date(endsAtMs).toISOString().slice(0, 16)}Z`;
    const who = profile?.address ?? "a mailbox";
    return `${who}, ${until === "" ? "not watched yet" : `watched${until}`}`;
  };

  const channel: Channel = {
    send: sender(api, address),
    text: { maxChars: MAX_TEXT_CHARS },
    readMarks: {
      async mark(_conversation, messageId, signal) {
        const path = `messages/${pathPart(messageId)}/modify`;
        await api.call({ path, json: { removeLabelIds: ["UNREAD"] } }, signal);
      },
    },
    media: createMedia(api, context),
    check,
    setup: ({ url }, signal) => setUp({ config, api, watch }, url, signal).catch(asCheckFailure),
    async onNotice(notice, signal) {
      const told = toldOf(notice);
      if (told === undefined) return;
      address.heard(told.emailAddress);
      // A push may be here before the loop has watched for the first time.
      if ((await readPlace(state)) === undefined) await watch.keep(signal);
      await sync.run(signal, told.historyId);
    },
  };

  return {
    channel,
    ingress: [createIngress(context, keys)],
    run: (signal) => runLoop({ context, tokens, check, watch, sync, keys }, signal),
  };
}
