/**
 * A stream's lines, parted by line feeds alone. For `node:readline` U+2028 parts lines too, and JSON has it as it is: one such
 * character in what somebody wrote would break the answer that it stands in.
 */
export async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  stream.setEncoding("utf8");
  let begun: string[] = [];
  for await (const chunk of stream as AsyncIterable<string>) {
    const [first = "", ...others] = chunk.split("\n");
    begun.push(first);
    for (const next of others) {
      yield begun.join("");
      begun = [next];
    }
  }
  const rest = begun.join("");
  if (rest !== "") yield rest;
}
