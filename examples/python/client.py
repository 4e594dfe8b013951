"""One call: question.wav (8 kHz, mono, 16 bit) → Hotline → what was heard and said on the screen, the bot's voice in answer.wav.

    TOKEN=… python client.py 127.0.0.1:50051 question.wav answer.wav

Stubs elsewhere: python -m grpc_tools.protoc -I proto --python_out=. --grpc_python_out=. hotline/v1/hotline.proto
"""

import os
import sys
import threading
import wave

import grpc

from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as rpc


def frames(question, greeted, answered):
    yield pb.CallerFrame(start=pb.Start(codec=pb.CODEC_L16, sample_rate_hz=8000, trunk="example"))
    for number in range(60 * 50):  # 20 ms each, silence included, for as long as the caller is there; here at most a minute
        payload = question.readframes(160) if greeted.is_set() else b""
        yield pb.CallerFrame(audio=pb.Audio(sequence=number, capture_ms=number * 20, payload=payload.ljust(320, b"\0")))
        if answered.wait(0.02):
            break
    yield pb.CallerFrame(hangup=pb.Hangup(reason="caller"))


greeted, answered = threading.Event(), threading.Event()
with grpc.insecure_channel(sys.argv[1]) as channel, wave.open(sys.argv[2]) as question, wave.open(sys.argv[3], "wb") as answer:
    answer.setparams((1, 2, 8000, 0, "NONE", ""))
    token = [("authorization", f"Bearer {os.environ.get('TOKEN', '')}")]
    try:
        for frame in rpc.HotlineStub(channel).Converse(frames(question, greeted, answered), metadata=token):
            match frame.WhichOneof("frame"):
                case "audio":
                    answer.writeframes(frame.audio.payload)
                case "transcript" if frame.transcript.is_final:
                    print("heard:", frame.transcript.masked_text)
                case "reply_text":
                    print(f"said ({frame.reply_text.route}):", frame.reply_text.text)
                case "mark" if frame.mark.name == "end":  # a reply was said to its end
                    (answered if greeted.is_set() else greeted).set()
    except grpc.RpcError as error:
        sys.exit(f"{error.details()}: is TOKEN right, and is {sys.argv[1]} the server?")
