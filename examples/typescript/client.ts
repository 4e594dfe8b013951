// One call: question.wav (8 kHz, mono, 16 bit) → Hotline → what was heard and said on the screen, the bot's voice in answer.raw.
//   TOKEN=… node client.ts 127.0.0.1:50051 question.wav answer.raw        (Node.js 24 runs TypeScript as it is)
import { createWriteStream, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const [target, wav, out] = process.argv.slice(2) as [string, string, string];
const proto = new URL("../../proto/hotline/v1/hotline.proto", import.meta.url).pathname;
const { hotline } = grpc.loadPackageDefinition(loader.loadSync(proto, { keepCase: true, enums: String })) as any;

const client = new hotline.v1.Hotline(target, grpc.credentials.createInsecure());
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${process.env.TOKEN ?? ""}`);
const line = client.Converse(metadata);
const answer = createWriteStream(out);
const question = readFileSync(wav).subarray(44); // after a plain WAV header
let greeted = false, answered = false, at = 0;

line.on("data", (frame: any) => {
  if (frame.audio) answer.write(frame.audio.payload);
  if (frame.transcript?.is_final) console.log("heard:", frame.transcript.masked_text);
  if (frame.reply_text) console.log(`said (${frame.reply_text.route}):`, frame.reply_text.text);
  if (frame.mark?.name === "end") greeted ? (answered = true) : (greeted = true); // a reply was said to its end
});
line.on("end", () => (answered = true));
line.on("error", (error: grpc.ServiceError) => { console.error(error.details); process.exitCode = 1; answered = true; });

line.write({ start: { codec: "CODEC_L16", sample_rate_hz: 8000, trunk: "example" } });
for (let number = 0; number < 60 * 50 && !answered; number += 1) { // 20 ms each, silence included; here at most a minute
  const payload = Buffer.alloc(320);
  if (greeted) payload.set(question.subarray(at, (at += 320)));
  line.write({ audio: { sequence: number, capture_ms: number * 20, payload } });
  await sleep(20);
}
line.write({ hangup: { reason: "caller" } });
line.end();
