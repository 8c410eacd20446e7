// What every channel keeps, with a mail provider that behaves as the RFCs say.
import { channelConformance } from "@svc/testkit/conformance/channel-conformance";
import { rawMail } from "@svc/testkit/platforms/email/fake/raw-mail";
import type { FakeMail } from "@svc/testkit/platforms/email/fake/server";
import { afterEach } from "vitest";
import definition from "../src/index.ts";
import { closeAll, mailFrom, OWN, PERSON, portsOf, section, startMail } from "./open.ts";

afterEach(closeAll);

/** In one thread, so that it is one conversation; the subject of a thread is told with its first mail only. */
const IN_THREAD = { "In-Reply-To": "<root@example.org>", References: "<root@example.org>" };

channelConformance<FakeMail>(definition, {
  root: `${import.meta.dirname}/..`,
  platform: () => startMail(),
  config: (mail) => ({
    ...section,
    ...portsOf(mail),
    processed_mailbox: "Done",
    max_attachment_mb: 1,
    // The suite writes faster than people do.
    max_answers_per_hour: 0,
  }),
  conversation: () => ({ id: PERSON, thread: "<root@example.org>" }),
  arrivals: {
    person: PERSON,
    stranger: "mallory@evil.test",
    write: (mail, { id, text, from, atMs }) => {
      mail.inbox.add(
        mailFrom(from, {
          text,
          atMs,
          messageId: `<${id}@example.org>`,
          headers: {
            ...IN_THREAD,
            "Authentication-Results": `mx.example.com; dmarc=pass header.from=${from.split("@")[1]}`,
          },
        }),
        [],
        atMs,
      );
    },
    writeOwn: (mail, { text, atMs }) => {
      mail.inbox.add(rawMail({ from: OWN, text, atMs }), [], atMs);
    },
    disconnect: (mail) => mail.disconnect(),
  },
  media: {
    file: (mail, bytes) => {
      const files = [{ name: "a.pdf", mimeType: "application/pdf", bytes }];
      const { uid } = mail.inbox.add(
        mailFrom(PERSON, { text: "Look", messageId: `<file-${bytes.length}@example.org>`, files }),
      );
      return mediaOf(`${mail.inbox.uidValidity}/${uid}/2/<file-${bytes.length}@example.org>`);
    },
    // A file is asked for by its place; nothing in a mail leads anywhere else.
    leadingTo: (_mail, url) => mediaOf(url),
  },
  ownTextLimit: true,
});

const mediaOf = (ref: string) => ({
  kind: "document" as const,
  ref,
  placeholder: "[file 1: a.pdf]",
  fileName: "a.pdf",
});
