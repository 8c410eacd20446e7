/** Data sheets: PDFs that are fetched once and kept. On while an adapter is plugged in, which reaches the chips that they are about. */
import { defineTool, type FeatureContext, type FeatureModule, SvcError, type ToolContext } from "@svc/contract";
import { boardOfUsb, scanUsb } from "@svc/kit/hardware";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";

const MOST_BYTES = 50 * 1_048_576;
const MOST_LISTED = 200;
const TIMEOUT_MS = 120_000;
const PDF = "%PDF-";

/** Where the makers keep theirs; any other is found by its URL. */
const MAKERS: readonly { readonly form: RegExp; readonly url: string }[] = [
  { form: /^(?:stm32|nucleo)/, url: "https://www.st.com/en/microcontrollers-microprocessors.html" },
  { form: /^(?:rp2040|rp2350|raspberry-pi-pico)/, url: "https://www.raspberrypi.com/documentation/microcontrollers/" },
  { form: /^(?:atmega|attiny|mcp)/, url: "https://www.microchip.com/" },
  { form: /^esp32/, url: "https://www.espressif.com/en/support/documents/technical-documents" },
  { form: /^(?:bme|bmp|bmi|bno)/, url: "https://www.bosch-sensortec.com/products/" },
  { form: /^(?:tmp|lm|ads|ina|pcf|tca)/, url: "https://www.ti.com/" },
];

/** `root`: of the file system, another one in tests. */
export const datasheetsOf = (root: string): Required<FeatureModule> => ({
  survey: async () =>
    (await scanUsb(root)).some(({ vendorId, productId }) => boardOfUsb(vendorId, productId)?.name === "aardvark"),
  create: ({ survey, homeFolder }: FeatureContext) =>
    survey === true ? { tools: [datasheet(join(homeFolder, "hardware", "datasheets"))] } : {},
});

export const { survey, create } = datasheetsOf("/");

const datasheet = (folder: string) =>
  defineTool({
    name: "datasheet",
    description:
      "Data sheets of chips as PDF files. search tells whether one is kept, and where its maker has them; download fetches a PDF from a " +
      "URL; list names those that are kept; read returns the path of one, to be read with a PDF tool.",
    input: v.strictObject({
      action: v.picklist(["search", "download", "list", "read"]),
      device_name: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^[A-Za-z0-9][\w-]{0,63}$/, "a name such as bme280"),
          v.description("Name of the chip, such as bme280. Not for list."),
        ),
      ),
      url: v.optional(v.pipe(v.string(), v.maxLength(2000), v.description("Of the PDF. Only for download."))),
    }),
    approval: ({ action }) => (action === "download" ? "ask" : "auto"),
    async run({ action, device_name = "", url = "" }, context) {
      context.signal.throwIfAborted();
      const name = device_name.toLowerCase();
      if (action !== "list" && name === "") throw new SvcError("TOOL_BAD_INPUT", `${action} needs device_name.`);
      if ((action === "download") !== (url !== "")) {
        throw new SvcError("TOOL_BAD_INPUT", "url is the URL of the PDF for download, and only for it.");
      }
      const file = join(folder, `${name}.pdf`);
      switch (action) {
        case "download":
          return await download(folder, { file, url }, context);
        case "list":
          return { datasheets: (await names(folder)).slice(0, MOST_LISTED) };
        case "read":
          await demandKept(file, name);
          return { path: file };
        default: {
          const kept = (await names(folder)).filter((one) => one.includes(name));
          const maker = MAKERS.find(({ form }) => form.test(name))?.url ?? null;
          return { kept, maker, note: "Find the URL of the PDF, and fetch it with the action download." };
        }
      }
    },
  });

async function download(
  folder: string,
  { file, url }: { readonly file: string; readonly url: string },
  { fetch, signal }: Pick<ToolContext, "fetch" | "signal">,
): Promise<{ path: string; bytes: number }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.part`;
  const draftFile = await open(draft, "w", 0o600);
  let bytes = 0;
  let head = "";
  try {
    const write = async (chunk: Uint8Array): Promise<void> => {
      if (head.length < PDF.length) head += Buffer.from(chunk.subarray(0, PDF.length - head.length)).toString("latin1");
      if (!PDF.startsWith(head.slice(0, PDF.length))) throw notPdf();
      bytes += chunk.length;
      await draftFile.write(chunk);
    };
    const answer = await fetch(url, { maxBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS, signal, write });
    if (answer.status !== 200) {
      throw new SvcError("TOOL_FAILED", `The server answered ${answer.status}; nothing was kept.`);
    }
    if (answer.truncated) throw new SvcError("TOOL_FAILED", "The file is larger than 50 MB; nothing was kept.");
    // A client that hands over the answer as a whole.
    if (bytes === 0) await write(answer.bytes);
    if (head !== PDF) throw notPdf();
    await draftFile.sync();
  } catch (error) {
    await draftFile.close();
    await rm(draft, { force: true });
    throw error;
  }
  await draftFile.close();
  await rename(draft, file);
  return { path: file, bytes };
}

const notPdf = (): SvcError =>
  new SvcError("TOOL_FAILED", "The file at this URL is not a PDF; nothing was stored.", {
    hint: "Give the URL of the PDF itself, not of a page about it.",
  });

async function names(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch(() => []);
  return entries
    .filter((name) => name.endsWith(".pdf"))
    .map((name) => name.slice(0, -".pdf".length))
    .toSorted();
}

async function demandKept(file: string, name: string): Promise<void> {
  if ((await stat(file).catch(() => undefined))?.isFile()) return;
  throw new SvcError("TOOL_FAILED", `There is no data sheet of ${name}.`, {
    hint: "Fetch it with the action download.",
  });
}
