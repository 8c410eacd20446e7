// What every channel keeps, with a mailbox that behaves as the documents say.
import { channelConformance } from "@svc/testkit/conformance/channel-conformance";
import { mailpushDelivery, mailpushPost } from "@svc/testkit/platforms/mailpush/push";
import type { Mailpush } from "@svc/testkit/platforms/mailpush/server";
import { afterEach } from "vitest";
import definition from "../src/index.ts";
import { closePlatforms, OWN, REFRESH, section, startPlatform, urlsOf } from "./open-channel.ts";

afterEach(closePlatforms);

const secretOf = (config: Readonly<Record<string, unknown>>) => config["webhook_secret"] as string;

channelConformance<Mailpush>(definition, {
  root: `${import.meta.dirname}/..`,
  platform: () => startPlatform(),
  config: (platform) => ({ ...section, ...REFRESH, ...urlsOf(platform) }),
  conversation: (platform) => {
    const { mail } = platform.arrive({ from: "ada@example.org", subject: "Hi", text: "Hello" });
    return { id: "ada@example.org", thread: mail.threadId };
  },
  deliveries: {
    person: "ada@example.org",
    stranger: "mallory@evil.test",
    message: ({ id, atMs }, config) =>
      mailpushDelivery({ id, emailAddress: OWN, historyId: "9007199254740993", atMs }, secretOf(config)),
    signed: (body, config) => mailpushPost(body, secretOf(config)),
    proves: "sender",
    freshness: { by: "id" },
    notifies: true,
  },
  media: {
    file: (platform, bytes) => {
      const { mail } = platform.arrive({
        from: "ada@example.org",
        files: [{ name: "a.pdf", mimeType: "application/pdf", bytes }],
      });
      return mediaOf(`${mail.id}/1`);
    },
    // A file is asked for by its mail; nothing in a mail leads anywhere else.
    leadingTo: (_platform, url) => mediaOf(url),
  },
  ownTextLimit: true,
  idempotent: true,
});

const mediaOf = (ref: string) => ({
  kind: "document" as const,
  ref,
  placeholder: "[file 1: a.pdf]",
  fileName: "a.pdf",
});
