"""Writes a language model of random weights, with two layers and a vocabulary of 512: llama_model.py FILE."""

import sys

import gguf
import numpy

WIDTH, HIDDEN, HEADS, LAYERS, VOCABULARY, CONTEXT = 256, 512, 4, 2, 512, 512

random = numpy.random.default_rng(1)
model = gguf.GGUFWriter(sys.argv[1], "llama")
model.add_name("random")
model.add_context_length(CONTEXT)
model.add_embedding_length(WIDTH)
model.add_block_count(LAYERS)
model.add_feed_forward_length(HIDDEN)
model.add_head_count(HEADS)
model.add_head_count_kv(HEADS)
model.add_layer_norm_rms_eps(1e-5)
model.add_rope_dimension_count(WIDTH // HEADS)
model.add_vocab_size(VOCABULARY)
model.add_file_type(gguf.LlamaFileType.ALL_F32)

special = ["<unk>", "<s>", "</s>"]
single = [f"<0x{byte:02X}>" for byte in range(256)]
words = [f"word{number}" for number in range(VOCABULARY - len(special) - len(single))]
kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
kinds += [gguf.TokenType.BYTE] * len(single) + [gguf.TokenType.NORMAL] * len(words)
model.add_tokenizer_model("llama")
model.add_token_list([token.encode() for token in special + single + words])
model.add_token_scores([0.0] * VOCABULARY)
model.add_token_types(kinds)
model.add_unk_token_id(0)
model.add_bos_token_id(1)
model.add_eos_token_id(2)


def weights(name, *shape):
    model.add_tensor(f"{name}.weight", (0.05 * random.standard_normal(shape)).astype(numpy.float32))


def ones(name):
    model.add_tensor(f"{name}.weight", numpy.ones(WIDTH, numpy.float32))


weights("token_embd", VOCABULARY, WIDTH)
ones("output_norm")
weights("output", VOCABULARY, WIDTH)
for layer in range(LAYERS):
    ones(f"blk.{layer}.attn_norm")
    ones(f"blk.{layer}.ffn_norm")
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        weights(f"blk.{layer}.{part}", WIDTH, WIDTH)
    weights(f"blk.{layer}.ffn_gate", HIDDEN, WIDTH)
    weights(f"blk.{layer}.ffn_up", HIDDEN, WIDTH)
    weights(f"blk.{layer}.ffn_down", WIDTH, HIDDEN)

model.write_header_to_file()
model.write_kv_data_to_file()
model.write_tensors_to_file()
model.close()
