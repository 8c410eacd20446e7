/** What a person does with hands. Each waits until its element can be used, and then for what it has set off. */
import { settled } from "../session/settle.ts";
import { elementOf } from "../session/target.ts";
import type { ActionOf, Place, Told } from "./actions.ts";

export async function click({ target, double }: ActionOf<"click">, place: Place): Promise<Told> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.click({ ...limits(place), clickCount: double === true ? 2 : 1 });
  return afterwards(place);
}

export async function fill({ target, text }: ActionOf<"fill">, place: Place): Promise<Told> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.fill(text, limits(place));
  return afterwards(place);
}

export async function type({ target, text }: ActionOf<"type">, place: Place): Promise<Told> {
  const { page } = place.tab;
  if (target !== undefined) {
    const element = await elementOf(page, target, place.call);
    await element.pressSequentially(text, limits(place));
  } else {
    // One by one: what is stopped writes no further.
    for (const letter of text) {
      place.call.signal.throwIfAborted();
      await page.keyboard.type(letter);
    }
  }
  return afterwards(place);
}

export async function press({ target, key }: ActionOf<"press">, place: Place): Promise<Told> {
  const { page } = place.tab;
  if (target !== undefined) {
    const element = await elementOf(page, target, place.call);
    await element.press(key, limits(place));
  } else {
    await page.keyboard.press(key);
  }
  return afterwards(place);
}

export async function hover({ target }: ActionOf<"hover">, place: Place): Promise<Told> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.hover(limits(place));
  return afterwards(place);
}

export async function scroll(
  { target, direction = "down", pixels = 600 }: ActionOf<"scroll">,
  place: Place,
): Promise<Told> {
  const { page } = place.tab;
  if (target !== undefined) {
    const element = await elementOf(page, target, place.call);
    await element.scrollIntoViewIfNeeded(limits(place));
    // Moved to it only: how far it goes from there is asked for by a direction.
    return afterwards(place);
  }
  const [right, down] = STEPS[direction];
  await page.mouse.wheel(right * pixels, down * pixels);
  return afterwards(place);
}

const STEPS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] } as const;

export async function select({ target, values }: ActionOf<"select">, place: Place): Promise<Told> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.selectOption([...values], limits(place));
  return afterwards(place);
}

export async function wait({ target, text, seconds }: ActionOf<"wait">, place: Place): Promise<Told> {
  const { page } = place.tab;
  const { signal } = place.call;
  const limit = { timeout: seconds === undefined ? place.call.timeoutMs : seconds * 1000, signal };
  // What is waited for may not be there yet: neither a selector nor a text has to fit anything now.
  if (target !== undefined) {
    const element = target.startsWith("@") ? await elementOf(page, target, place.call) : page.locator(`css=${target}`);
    await element.first().waitFor({ ...limit, state: "visible" });
  } else if (text !== undefined) {
    await page
      .getByText(text)
      .first()
      .waitFor({ ...limit, state: "visible" });
  } else if (seconds !== undefined) {
    await place.session.clock.sleep(seconds * 1000, signal);
  }
  return afterwards(place);
}

const limits = ({ call }: Place) => ({ timeout: call.timeoutMs, signal: call.signal });

async function afterwards({ tab, session, call }: Place): Promise<Told> {
  const { loading } = await settled(tab, session.clock, call.signal);
  return { result: loading ? { notes: ["The page still loads."] } : {} };
}
