"""One call: question.wav (8 kHz, mono, 16 bit) → Hotline → what was heard and said on the screen, the bot's voice in answer.wav.

    TOKEN=… python client.py 127.0.0.1:50051 question.wav answer.wav

Stubs elsewhere: python -m grpc_tools.protoc -I proto --python_out=. --grpc_python_out=. hotline/v1/hotline.proto
"""

import asyncio
import os
import sys
import wave

import grpc.aio

from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as rpc


async def listen(line, answer, greeted, answered):
    async for frame in line:
        match frame.WhichOneof("frame"):
            case "audio":
                answer.writeframes(frame.audio.payload)
            case "transcript" if frame.transcript.is_final:
                print("heard:", frame.transcript.masked_text)
            case "reply_text":
                print(f"said ({frame.reply_text.route}):", frame.reply_text.text)
            case "mark" if frame.mark.name == "end":  # a reply was said to its end
                (answered if greeted.is_set() else greeted).set()
    answered.set()


async def talk(line, question, answer):
    async with asyncio.TaskGroup() as tasks:
        await line.write(pb.CallerFrame(start=pb.Start(codec=pb.CODEC_L16, sample_rate_hz=8000, trunk="example")))
        greeted, answered = asyncio.Event(), asyncio.Event()
        tasks.create_task(listen(line, answer, greeted, answered))
        for number in range(60 * 50):  # 20 ms each, silence included, for as long as the caller is there; here at most a minute
            payload = question.readframes(160) if greeted.is_set() else b""
            audio = pb.Audio(sequence=number, capture_ms=number * 20, payload=payload.ljust(320, b"\0"))
            await line.write(pb.CallerFrame(audio=audio))
            if answered.is_set():
                break
            await asyncio.sleep(0.02)
        await line.write(pb.CallerFrame(hangup=pb.Hangup(reason="caller")))


async def call(target, question, answer):
    """What went wrong, if anything did: a wrong token, no server there, a call that broke."""
    async with grpc.aio.insecure_channel(target) as channel:
        line = rpc.HotlineStub(channel).Converse(metadata=[("authorization", f"Bearer {os.environ.get('TOKEN', '')}")])
        try:
            await talk(line, question, answer)
        except* (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            pass  # the line knows why
        else:
            return ""
        return f"{await line.details() or 'the call broke'}: is TOKEN right, and is {target} the server?"


if __name__ == "__main__":
    with wave.open(sys.argv[2]) as question, wave.open(sys.argv[3], "wb") as answer:
        answer.setparams((1, 2, 8000, 0, "NONE", ""))
        wrong = asyncio.run(call(sys.argv[1], question, answer))
    sys.exit(wrong or 0)
