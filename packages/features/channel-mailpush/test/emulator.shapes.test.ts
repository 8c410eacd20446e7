// Our fake mailbox must answer as one that someone else built from the same documents: the platform's own client asks both
// the same, and every difference is a known one.
import { expect, test } from "vitest";
import { differences } from "./emulator/compare.ts";
import { isKnown, KNOWN } from "./emulator/known-differences.ts";
import { clientOf, type OpenMailbox, startEmulator, startOurs } from "./emulator/mailboxes.ts";
import { FILE } from "./emulator/mails.ts";
import { type Answers, play } from "./emulator/script.ts";

async function answersOf(start: () => Promise<OpenMailbox>): Promise<Answers> {
  await using mailbox = await start();
  // Before the mailbox is closed.
  return await play(clientOf(mailbox), clientOf(mailbox, "another-token"));
}

test("the platform's client is answered the same by our fake and by the emulator, but for what is known", async () => {
  const [theirs, ours] = [await answersOf(startEmulator), await answersOf(startOurs)];
  const found = differences(theirs, ours);
  expect(found.filter((one) => !KNOWN.some((known) => isKnown(one, known)))).toEqual([]);
  expect(KNOWN.filter((known) => !found.some((one) => isKnown(one, known)))).toEqual([]);
  // What is no difference is no mistake of both: the script went where it was meant to go.
  for (const answers of [theirs, ours]) {
    expect(answers.get("history, first page")).toMatchObject({ nextPageToken: expect.any(String) });
    expect(answers.get("file")).toMatchObject({ size: FILE.length, data: FILE.toString("base64url") });
    expect(answers.get("thread with what was sent")).toMatchObject({ messages: { length: 3 } });
    expect(answers.get("get what is deleted")).toMatchObject({ refused: 404 });
    expect(answers.get("modify with a label that is not there")).toMatchObject({ refused: 400 });
  }
});
