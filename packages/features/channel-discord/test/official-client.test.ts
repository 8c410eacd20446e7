// The platform of these tests would prove nothing if the official client could not live with it: whatever it sends is taken,
// whatever it is told it understands.
import { type Discord, startDiscord } from "@svc/testkit/platforms/discord/server";
import {
  ActionRowBuilder,
  ButtonBuilder,
  type ButtonInteraction,
  ButtonStyle,
  Client,
  type CommandInteraction,
  Events,
  GatewayIntentBits,
  type Message,
  Partials,
  SlashCommandBuilder,
  type TextChannel,
} from "discord.js";
import { once } from "node:events";
import { expect, test } from "vitest";
import { PERSON, soon, TOKEN } from "./fixture.ts";

const INTENTS = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.GuildMessageReactions,
  GatewayIntentBits.DirectMessages,
  GatewayIntentBits.MessageContent,
];

interface Bench extends AsyncDisposable {
  readonly platform: Discord;
  readonly client: Client<true>;
  readonly roomId: string;
}

async function connected(intents = INTENTS): Promise<Bench> {
  const platform = await startDiscord({ token: TOKEN });
  platform.addUser({ id: PERSON, username: "ada", globalName: "Ada" });
  const room = platform.addChannel(platform.addGuild());
  const client = new Client({
    intents,
    partials: [Partials.Channel],
    rest: { api: platform.apiUrl, retries: 0 },
  });
  const ready = once(client, Events.ClientReady);
  await client.login(TOKEN);
  await ready;
  return {
    platform,
    client: client as Client<true>,
    roomId: room.id,
    async [Symbol.asyncDispose]() {
      await client.destroy();
      await platform.close();
    },
  };
}

test("it connects, knows the server, reads messages, answers, edits, reacts, opens a thread, sends a file", async () => {
  await using at = await connected();
  const { platform, client, roomId } = at;
  expect(client.guilds.cache.map(({ name }) => name)).toEqual(["A server"]);
  const coming = once(client, Events.MessageCreate);
  const written = platform.write({ from: PERSON, channelId: roomId, text: "Hello there" });
  const [message] = (await coming) as [Message<true>];
  expect([message.content, message.author.displayName, message.id]).toEqual(["Hello there", "Ada", written.id]);

  const answer = await message.reply({ content: "Hello", allowedMentions: { parse: [] } });
  await answer.edit("Hello, Ada");
  await answer.edit("Hello, Ada");
  await message.react("👀");
  await message.reactions.cache.get("👀")?.users.remove(client.user.id);
  const thread = await answer.startThread({ name: "More of it" });
  await thread.send({ content: "", files: [{ attachment: Buffer.from("a,b"), name: "table.csv" }] });
  await (message.channel as TextChannel).sendTyping();
  expect(platform.sent.map(({ text, answers, fileNames }) => [text, answers, fileNames])).toEqual([
    ["Hello, Ada", written.id, []],
    ["", undefined, ["table.csv"]],
  ]);
  expect(thread.ownerId).toBe(client.user.id);
  expect(platform.typing).toEqual([roomId]);
  const history = await message.channel.messages.fetch({ after: written.id, limit: 100 });
  expect([...history.values()].map(({ content }) => content)).toEqual(["Hello, Ada"]);
});

test("it opens direct messages, registers commands, answers them and presses on buttons", async () => {
  await using at = await connected();
  const { platform, client, roomId } = at;
  const direct = await (await client.users.fetch(PERSON).catch(() => client.users.createDM(PERSON))).send("Hello");
  expect(platform.sent.map(({ channelId }) => channelId)).toEqual([direct.channelId]);

  await client.application.commands.set([new SlashCommandBuilder().setName("status").setDescription("How it is")]);
  expect(await platform.commands()).toMatchObject([{ name: "status", description: "How it is" }]);
  const asked = once(client, Events.InteractionCreate);
  const interaction = platform.useCommand({ userId: PERSON, channelId: roomId, name: "status" });
  const [command] = (await asked) as [CommandInteraction];
  await command.deferReply();
  await command.editReply("All is well");
  await command.followUp("Really");
  expect(interaction.response?.content).toBe("All is well");

  const row = new ActionRowBuilder<ButtonBuilder>().addComponents(
    new ButtonBuilder().setCustomId("yes").setLabel("Yes").setStyle(ButtonStyle.Success),
  );
  const question = await (client.channels.cache.get(roomId) as TextChannel).send({ content: "Go?", components: [row] });
  const pressing = once(client, Events.InteractionCreate);
  platform.press(PERSON, "Yes");
  const [press] = (await pressing) as [ButtonInteraction];
  expect(press.isButton()).toBe(true);
  await press.update({ content: "Gone", components: [] });
  expect(platform.sent.at(-1)).toMatchObject({ id: question.id, text: "Gone", buttons: [] });
});

test("it resumes after a cut, and is told what it missed", async () => {
  await using at = await connected();
  const { platform, client, roomId } = at;
  const texts: string[] = [];
  client.on(Events.MessageCreate, ({ content }) => void texts.push(content));
  platform.gateway.disconnect();
  platform.write({ from: PERSON, channelId: roomId, text: "meanwhile" });
  await soon(() => texts.length === 1);
  expect(platform.gateway.logins.map(({ kind, path }) => [kind, path])).toEqual([
    ["identify", "/"],
    ["resume", "/resume"],
  ]);
  expect(texts).toEqual(["meanwhile"]);
});

test("without the intent it is told no content, but of what mentions it", async () => {
  await using at = await connected(INTENTS.filter((intent) => intent !== GatewayIntentBits.MessageContent));
  const { platform, client, roomId } = at;
  const texts: string[] = [];
  client.on(Events.MessageCreate, ({ content }) => void texts.push(content));
  platform.write({ from: PERSON, channelId: roomId, text: "secret" });
  platform.write({ from: PERSON, channelId: roomId, text: `<@${client.user.id}> open` });
  await soon(() => texts.length === 2);
  expect(texts).toEqual(["", `<@${client.user.id}> open`]);
});

test("what is wrong is refused by the numbers that the official client knows", async () => {
  await using at = await connected();
  const room = at.client.channels.cache.get(at.roomId) as TextChannel;
  await expect(room.send("x".repeat(2001))).rejects.toMatchObject({ status: 400, code: 50035 });
  await expect(room.send(" ")).rejects.toMatchObject({ status: 400, code: 50006 });
  await expect(room.messages.fetch("99")).rejects.toMatchObject({ status: 404, code: 10008 });
  at.platform.world.channels.get(at.roomId)!.denied.add("send");
  await expect(room.send("x")).rejects.toMatchObject({ status: 403, code: 50013 });
  const stranger = new Client({ intents: INTENTS, rest: { api: at.platform.apiUrl, retries: 0 } });
  await expect(stranger.login("MTA4.wrong.token")).rejects.toMatchObject({ code: "TokenInvalid" });
});
