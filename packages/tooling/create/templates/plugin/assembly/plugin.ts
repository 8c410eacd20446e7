import { failure, input, output } from "./host";

/** A call of the tool. */
export function run(): i32 {
  const text = input();
  if (text.trim().length == 0) return failure("The name is missing.");
  return output(`Hello, ${text.trim()}!`);
}
