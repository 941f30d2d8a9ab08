"""Makes the folders beside it with TensorFlow itself; run once: python make_tf_bert_tiny.py (tensorflow-cpu 2.21).

tf_bert_tiny is a checkpoint as Google's BERT code writes them, with Adam's moments, and what that model computes.
tf_odd has several data files, a partitioned variable, and types that BERT does not use.
tf_v1 is a checkpoint of the old format V1.
"""

import json
import os
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
CONFIG = {
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 8,
    "initializer_range": 0.02,
    "intermediate_size": 12,
    "max_position_embeddings": 10,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "type_vocab_size": 2,
    "vocab_size": 30,
}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "a", "ice", "cream", "was", "in", "wall", "crack", "he", "high", "on", "hard", "problem", "to", "she"]
VOCAB = [*SPECIAL, *WORDS, "##s", "##ed", "##ing", ".", ",", "?", "!", "un", "##able", "##ly"]
IDS = [[2, 5, 7, 8, 9, 4, 23, 3], [2, 6, 12, 10, 5, 11, 3, 0], [2, 13, 9, 3, 12, 3, 0, 0]]
SEGMENTS = [[0] * 8, [0] * 8, [0, 0, 0, 0, 1, 1, 0, 0]]


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    make_bert(tf, HERE / "tf_bert_tiny")
    make_odd(tf, HERE / "tf_odd")
    make_first_version(tf, HERE / "tf_v1")


def make_bert(tf, folder):
    folder.mkdir(exist_ok=True)
    (folder / "bert_config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    (folder / "vocab.txt").write_text("\n".join(VOCAB) + "\n")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        outputs = bert(tf)
        for variable in tf.trainable_variables():
            for moment in ("adam_m", "adam_v"):
                tf.get_variable(f"{variable.op.name}/{moment}", variable.shape, trainable=False, initializer=noise(tf))
        tf.get_variable("global_step", initializer=np.int64(1000), trainable=False)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(folder / "bert_model.ckpt"), write_meta_graph=False, write_state=False)
        computed = session.run(outputs)
    write_expected(tf, folder / "bert_model.ckpt", folder / "expected.npz", computed)


def write_expected(tf, prefix, path, computed):
    """All values as TensorFlow reads them, the float32 ones end to end in the order of their names."""
    reader = tf.train.load_checkpoint(str(prefix))
    floats = sorted(name for name, dtype in reader.get_variable_to_dtype_map().items() if dtype == tf.float32)
    values = [reader.get_tensor(name) for name in floats]
    np.savez_compressed(
        path,
        names=json.dumps({name: value.shape for name, value in zip(floats, values, strict=True)}),
        values=np.concatenate([value.ravel() for value in values]),
        global_step=reader.get_tensor("global_step"),
        ids=IDS,
        segments=SEGMENTS,
        **computed,
    )


def bert(tf):
    """The model of google-research/bert in a few operations, its variables by the same names."""
    width, n_heads = CONFIG["hidden_size"], CONFIG["num_attention_heads"]
    ids, segments = tf.constant(IDS), tf.constant(SEGMENTS)
    mask = tf.cast(ids > 0, tf.float32)[:, None, None, :]  # (rows, 1, 1, length)
    with tf.variable_scope("bert"):
        with tf.variable_scope("embeddings"):
            words = tf.get_variable("word_embeddings", [CONFIG["vocab_size"], width], initializer=noise(tf))
            kinds = tf.get_variable("token_type_embeddings", [CONFIG["type_vocab_size"], width], initializer=noise(tf))
            places = tf.get_variable(
                "position_embeddings", [CONFIG["max_position_embeddings"], width], initializer=noise(tf)
            )
            x = tf.gather(words, ids) + tf.gather(kinds, segments) + places[None, : ids.shape[1]]
            layers = [layer_norm(tf, x)]
        for number in range(CONFIG["num_hidden_layers"]):
            with tf.variable_scope(f"encoder/layer_{number}"):
                layers.append(block(tf, layers[-1], mask, n_heads))
        with tf.variable_scope("pooler"):
            pooled = tf.tanh(dense(tf, layers[-1][:, 0], width))
    with tf.variable_scope("cls/predictions"):
        with tf.variable_scope("transform"):
            hidden = layer_norm(tf, gelu(tf, dense(tf, layers[-1], width)))
        bias = tf.get_variable("output_bias", [CONFIG["vocab_size"]], initializer=noise(tf))
        masked_word_logits = tf.einsum("blw,vw->blv", hidden, words) + bias
    with tf.variable_scope("cls/seq_relationship"):
        weights = tf.get_variable("output_weights", [2, width], initializer=noise(tf))
        bias = tf.get_variable("output_bias", [2], initializer=noise(tf))
        next_sentence_logits = tf.matmul(pooled, weights, transpose_b=True) + bias
    return {
        "layers": tf.stack(layers),  # (layers, rows, length, width)
        "pooled": pooled,
        "masked_word_logits": masked_word_logits,
        "next_sentence_logits": next_sentence_logits,
    }


def block(tf, x, mask, n_heads):
    width = x.shape[-1]
    with tf.variable_scope("attention"):
        with tf.variable_scope("self"):
            query, key, value = (heads(tf, dense(tf, x, width, name), n_heads) for name in ("query", "key", "value"))
            scores = tf.matmul(query, key, transpose_b=True) / np.sqrt(int(width) // n_heads).astype(np.float32)
            mixed = tf.matmul(tf.nn.softmax(scores - 10000.0 * (1 - mask)), value)
            mixed = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), x.shape)
        with tf.variable_scope("output"):
            x = layer_norm(tf, dense(tf, mixed, width) + x)
    with tf.variable_scope("intermediate"):
        inner = gelu(tf, dense(tf, x, CONFIG["intermediate_size"]))
    with tf.variable_scope("output"):
        return layer_norm(tf, dense(tf, inner, width) + x)


def heads(tf, x, n_heads):
    rows, length, width = x.shape
    return tf.transpose(tf.reshape(x, [rows, length, n_heads, width // n_heads]), [0, 2, 1, 3])


def dense(tf, x, width, name="dense"):
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", [x.shape[-1], width], initializer=noise(tf))
        return tf.tensordot(x, kernel, 1) + tf.get_variable("bias", [width], initializer=noise(tf))


def layer_norm(tf, x):
    with tf.variable_scope("LayerNorm"):
        beta = tf.get_variable("beta", x.shape[-1:], initializer=noise(tf))
        gamma = tf.get_variable("gamma", x.shape[-1:], initializer=tf.random_normal_initializer(1.0, 0.2))
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-12) * gamma + beta


def gelu(tf, x):
    return 0.5 * x * (1.0 + tf.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + 0.044715 * tf.pow(x, 3))))


def noise(tf):
    return tf.random_normal_initializer(stddev=0.5)


def make_odd(tf, folder):
    folder.mkdir(exist_ok=True)
    values = {
        "half": np.linspace(-2, 2, 7).astype(np.float16),
        "truth": np.array([[True, False], [False, True]]),
        "count": np.array(2**40 + 3, np.int64),
        "double": np.linspace(0, 1, 6).reshape(2, 3),
        "small": np.array([-3, 0, 3], np.int8),
        "complex": np.array([1 + 2j, -3j], np.complex64),
        "empty": np.zeros((0, 3), np.float32),
        "text": np.array([b"one", b"", b"three"]),
    }
    brain = np.linspace(-3, 3, 11).astype(np.float32)
    with tf.Graph().as_default():
        for number, (name, value) in enumerate(values.items()):
            with tf.device(f"/cpu:{number % 3}"):
                tf.get_variable(name, initializer=value, use_resource=True)
        tf.get_variable("brain", initializer=tf.cast(brain, tf.bfloat16), use_resource=True)
        split = tf.get_variable(
            "scope/split", [200, 3], partitioner=tf.fixed_size_partitioner(3), initializer=noise(tf), use_resource=True
        )
        columns = tf.get_variable(
            "columns", [4, 90], partitioner=tf.fixed_size_partitioner(2, axis=1), initializer=noise(tf)
        )
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
            session.run(tf.global_variables_initializer())
            saver = tf.train.Saver(sharded=True)
            saver.save(session, str(folder / "model.ckpt"), 7, write_meta_graph=False, write_state=False)
            values |= {"scope/split": session.run(split.as_tensor()), "columns": session.run(columns.as_tensor())}
            values["brain"] = session.run(tf.cast(tf.cast(brain, tf.bfloat16), tf.float32))
    del values["text"]
    np.savez_compressed(folder / "expected.npz", **values)


def make_first_version(tf, folder):
    folder.mkdir(exist_ok=True)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("bert/embeddings/word_embeddings", [3, 2])
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V1)
        saver.save(session, str(folder / "bert_model.ckpt"), write_meta_graph=False, write_state=False)


if __name__ == "__main__":
    main()
