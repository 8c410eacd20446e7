/** One mailbox: mail comes in by IMAP as soon as it is there, and is answered by SMTP in its thread. */
import { type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { accountOf, hostOf, imapServer, smtpServer, trustOf } from "./account.ts";
import { createBodyReader } from "./body.ts";
import { checkAccount } from "./check.ts";
import type { Config } from "./config.ts";
import { createMedia } from "./files.ts";
import { createHeaderReader } from "./headers.ts";
import { createErrands } from "./imap.ts";
import { createInbound } from "./inbound.ts";
import { createMarks } from "./marks.ts";
import { runLoop } from "./run.ts";
import { createSend, createSentFolder } from "./send.ts";
import { createSmtp } from "./smtp.ts";
import { knownThreadsIn } from "./threads.ts";

/** Mail has no length limit; no reader needs more than this. */
const MAX_TEXT_CHARS = 200_000;

export function create(context: FeatureContext<Config>): Contributions {
  const { config, state, log } = context;
  const account = accountOf(context);
  const errands = createErrands(account);
  const smtp = createSmtp(account);
  const sentFolder = createSentFolder(account, errands);
  const threads = knownThreadsIn(state);
  const inboundOf = createInbound({ account, readBody: createBodyReader(), threads });
  const headers = createHeaderReader(account);
  const send = createSend({ account, smtp, errands, sentFolder, threads });
  const readMarks = createMarks(account, errands);
  let isOver = false;

  return {
    channel: {
      text: { maxChars: MAX_TEXT_CHARS },
      async send(message, signal) {
        if (isOver) throw new SvcError("CHANNEL_DOWN", "The channel is shut down.");
        return send(message, signal);
      },
      media: createMedia(account, errands),
      ...(readMarks !== undefined && { readMarks }),
      check: (signal) => checkAccount(account, { smtp, sentFolder }, signal),
    },
    async register(signal) {
      signal.throwIfAborted();
      await trustOf(config);
      for (const server of [imapServer(config), smtpServer(config)])
        await hostOf(server, account.resolve).catch(asConfig);
      if (!config.require_authenticated && config.approvers.length > 0) {
        log.warn("require_authenticated is off: anyone who writes an approver's address into a mail can approve.");
      }
    },
    run: (signal) => runLoop({ account, context, smtp, headers, inboundOf }, signal),
    async shutdown() {
      isOver = true;
      errands.close();
    },
  };
}

/** An address that may not be reached in the open is the config's to change; one that can't be looked up may be there later. */
function asConfig(error: unknown): void {
  if (!(error instanceof SvcError) || error.code !== "ADDRESS_REFUSED") return;
  throw new SvcError("CONFIG_INVALID", error.message, {
    hint: 'Use tls or starttls, or add the server\'s "host:port" to security.net.allow_private.',
  });
}
