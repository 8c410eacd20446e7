/** A tool as a model is told of it. */
import type { JSONSchema7, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { Tool } from "@svc/contract";

export async function functionTool(tool: Tool): Promise<LanguageModelV4FunctionTool> {
  const { toJsonSchema } = await import("@valibot/to-json-schema");
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    inputSchema: toJsonSchema(tool.input, { errorMode: "ignore" }) as JSONSchema7,
  };
}
