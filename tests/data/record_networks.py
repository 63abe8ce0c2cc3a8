#!/usr/bin/env python3
"""The networks of tests/networks.hpp in PyTorch (2.15). Writes tests/data/networks.txt: a line for each has its name and loss, how many weights and inputs, then for each
weight the sum of the absolute values of its gradient, scale, offset and shape, for each input how many integers (0: floating) and shape.
  python3 tests/data/record_networks.py          # writes the file
  python3 tests/data/record_networks.py --time   # us of value and gradients, eager and by torch.compile, on one thread"""
import math
import pathlib
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)


def numbers(shape, seed):
    """From -1/2 to 1/2, the same as networks::number."""
    n = int(np.prod(shape)) if len(shape) else 1
    h = ((np.arange(n, dtype=np.uint64) + 1) * 2654435761 % 2**32) ^ (seed * 40503 % 2**32)
    h = h ^ (h >> 16)
    h = h * 2246822519 % 2**32
    h = h ^ (h >> 13)
    return (h.astype(np.float64) / 2**32 - 0.5).reshape(shape)


class Weights:
    """Made when a network first asks for them, the same ones after that."""

    def __init__(self):
        self.list, self.made, self.next = [], [], 0

    def take(self, *shape, scale=None, one=False):
        if self.next == len(self.list):
            if scale is None:
                scale = 1 / math.sqrt(math.prod(shape[1:]) if len(shape) > 1 else 1)
            scale, offset = round(scale * 3.4641, 6) * (0.1 if one else 1), 1.0 if one else 0.0
            value = torch.tensor((numbers(shape, len(self.list) + 1) * scale + offset).astype(np.float32))
            self.list.append(value.requires_grad_())
            self.made.append((scale, offset))
        self.next += 1
        return self.list[self.next - 1]


def lin(p,x,o,bias=True):
    w=p.take(o,x.shape[-1]); return F.linear(x,w,p.take(o,scale=.1) if bias else None)
def bn(p,x):
    c=x.shape[1]; return F.batch_norm(x,None,None,p.take(c,one=True),p.take(c,scale=.1),True)
def conv(p,x,o,k,s=1,pad=0,g=1,bias=False):
    w=p.take(o,x.shape[1]//g,k,k); return F.conv2d(x,w,p.take(o,scale=.1) if bias else None,s,pad,1,g)
def ln(p,x):
    d=x.shape[-1]; return F.layer_norm(x,[d],p.take(d,one=True),p.take(d,scale=.1))
def rms(p,x):
    d=x.shape[-1]; return F.rms_norm(x,[d],p.take(d,one=True),1e-5)
def block(p,x,o,s):
    y=F.relu(bn(p,conv(p,x,o,3,s,1))); y=bn(p,conv(p,y,o,3,1,1))
    if s!=1 or x.shape[1]!=o: x=bn(p,conv(p,x,o,1,s,0))
    return F.relu(y+x)
def resnet(p,x,t):
    x=F.relu(bn(p,conv(p,x,16,7,2,3))); x=F.max_pool2d(x,3,2,1)
    x=block(p,x,16,1); x=block(p,x,32,2); x=block(p,x,64,2)
    x=F.adaptive_avg_pool2d(x,(1,1)).flatten(1); return F.cross_entropy(lin(p,x,10),t,label_smoothing=0.1)
def mobilenet(p,x,t):
    x=F.hardswish(bn(p,conv(p,x,16,3,2,1)))
    for o,s in ((24,2),(24,1),(40,2)):
        i=x; e=x.shape[1]*3
        y=F.hardswish(bn(p,conv(p,x,e,1))); y=F.relu6(bn(p,conv(p,y,e,3,s,1,e)))
        q=y.mean((2,3),keepdim=True); q=F.relu(conv(p,q,8,1,bias=True)); y=y*F.hardsigmoid(conv(p,q,e,1,bias=True))
        y=bn(p,conv(p,y,o,1)); x=y+i if s==1 and i.shape[1]==o else y
    return F.cross_entropy(lin(p,x.mean((2,3)),10),t)
def gn(p,x,g): c=x.shape[1]; return F.group_norm(x,g,p.take(c,one=True),p.take(c,scale=.1))
def rb(p,x,o):
    y=conv(p,F.silu(gn(p,x,4)),o,3,1,1,bias=True); y=conv(p,F.silu(gn(p,y,4)),o,3,1,1,bias=True)
    return y+(conv(p,x,o,1) if x.shape[1]!=o else x)
def unet(p,x,t):
    x=conv(p,x,8,3,1,1); a=rb(p,x,8); b=rb(p,F.avg_pool2d(a,2),16); c=rb(p,F.max_pool2d(b,2),16)
    w=p.take(16,16,2,2); u=F.conv_transpose2d(c,w,None,2); u=rb(p,torch.cat([u,b],1),16)
    u=F.interpolate(u,scale_factor=2,mode='bilinear',align_corners=False); u=rb(p,torch.cat([u,a],1),8)
    return F.smooth_l1_loss(conv(p,u,3,1,bias=True),t)
def attn(p,x,h,mask=None,causal=False):
    B,T,D=x.shape; qkv=lin(p,x,3*D).reshape(B,T,3,h,D//h).permute(2,0,3,1,4); q,k,v=qkv.unbind(0)
    y=F.scaled_dot_product_attention(q,k,v,mask,0.0,causal); return lin(p,y.transpose(1,2).reshape(B,T,D),D)
def vit(p,x,t):
    x=conv(p,x,64,8,8,bias=True).flatten(2).transpose(1,2); B=x.shape[0]
    x=torch.cat([p.take(1,1,64,scale=.1).expand(B,-1,-1),x],1); x=x+p.take(1,17,64,scale=.1)
    for _ in range(2):
        x=x+attn(p,ln(p,x),4); x=x+lin(p,F.gelu(lin(p,ln(p,x),128)),64)
    return F.cross_entropy(lin(p,ln(p,x)[:,0],10),t)
def bert(p,ids,mask,t):
    B,T=ids.shape; e=p.take(50,32,scale=1.); x=F.embedding(ids,e)+p.take(T,32,scale=.1); x=ln(p,x)
    m=(mask==0)[:,None,None,:]; m=torch.zeros(m.shape).masked_fill(m,-1e9)
    for _ in range(2):
        x=ln(p,x+attn(p,x,4,m)); x=ln(p,x+lin(p,F.gelu(lin(p,x,64),approximate='tanh'),32))
    t=torch.where(ids%5==0,-100,t); return F.cross_entropy((x@e.t()).reshape(-1,50),t.reshape(-1),ignore_index=-100)
def rope(x):
    T,D=x.shape[-2:]; f=1.0/(10000**(torch.arange(0,D,2).float()/D)); a=torch.outer(torch.arange(T).float(),f)
    c,s=a.cos(),a.sin(); x1,x2=x[...,0::2],x[...,1::2]
    return torch.stack([x1*c-x2*s,x1*s+x2*c],-1).flatten(-2)
def gpt(p,ids,t):
    B,T=ids.shape; e=p.take(50,32,scale=.5); x=F.embedding(ids,e)
    for _ in range(2):
        y=rms(p,x); q=lin(p,y,32,False).reshape(B,T,4,8).transpose(1,2); k=lin(p,y,16,False).reshape(B,T,2,8).transpose(1,2); v=lin(p,y,16,False).reshape(B,T,2,8).transpose(1,2)
        q,k=rope(q),rope(k); y=F.scaled_dot_product_attention(q,k,v,is_causal=True,enable_gqa=True)
        x=x+lin(p,y.transpose(1,2).reshape(B,T,32),32,False); y=rms(p,x)
        x=x+lin(p,F.silu(lin(p,y,64,False))*lin(p,y,64,False),32,False)
    x=rms(p,x); lo=F.linear(x,e); return F.cross_entropy(lo[:,:-1].reshape(-1,50),ids[:,1:].reshape(-1))+0*t.sum()
def lstm(p,ids,t):
    e=p.take(50,16,scale=1.); x=F.embedding(ids,e); B,T,_=x.shape; h=torch.zeros(B,24); c=torch.zeros(B,24)
    wi=p.take(96,16); wh=p.take(96,24); b=p.take(96,scale=.1); outs=[]
    for k in range(T):
        i,f,g,o=(F.linear(x[:,k],wi,b)+F.linear(h,wh)).chunk(4,1)
        c=torch.sigmoid(f)*c+torch.sigmoid(i)*torch.tanh(g); h=torch.sigmoid(o)*torch.tanh(c); outs.append(h)
    y=torch.stack(outs,1).max(1).values; return F.binary_cross_entropy_with_logits(lin(p,y,1).squeeze(1),t.float())
def gnn(p,x,src,dst,t):
    n=x.shape[0]
    for o in (16,8):
        h=lin(p,x,o,False); m=torch.zeros(n,o).index_add(0,dst,h.index_select(0,src)); d=torch.zeros(n).index_add(0,dst,torch.ones(src.shape[0]))
        x=F.elu(m/d.clamp(min=1)[:,None]+lin(p,x,o));
        a=F.leaky_relu((x.index_select(0,src)*x.index_select(0,dst)).sum(1),.2); a=a-a.max().detach(); ea=a.exp(); z=torch.zeros(n).scatter_add(0,dst,ea); w=ea/z.gather(0,dst)
        x=torch.zeros(n,o).scatter_add(0,dst[:,None].expand(-1,o),w[:,None]*x[src])
    return F.nll_loss(F.log_softmax(x,1),t)
def vae(p,x,eps):
    h=F.leaky_relu(conv(p,x,8,4,2,1,bias=True),.2); h=F.leaky_relu(conv(p,h,16,4,2,1,bias=True),.2).flatten(1)
    mu,lv=lin(p,h,10),lin(p,h,10); z=mu+torch.exp(.5*lv)*eps; y=F.relu(lin(p,z,16*4*4)).view(-1,16,4,4)
    y=F.relu(F.conv_transpose2d(y,p.take(16,8,4,4),p.take(8,scale=.1),2,1)); y=torch.sigmoid(F.conv_transpose2d(y,p.take(8,1,4,4),p.take(1,scale=.1),2,1))
    kl=-.5*torch.sum(1+lv-mu.pow(2)-lv.exp())/x.shape[0]; return F.binary_cross_entropy(y,x.sigmoid(),reduction='sum')/x.shape[0]+kl
def nerf(p,x,t):
    B,S,_=x.shape; f=2.0**torch.arange(4).float(); e=(x[...,None]*f).flatten(-2); e=torch.cat([x,e.sin(),e.cos()],-1)
    h=e
    for k in range(3): h=F.relu(lin(p,torch.cat([h,e],-1) if k==2 else h,32))
    sg=F.softplus(lin(p,h,1).squeeze(-1)); c=torch.sigmoid(lin(p,h,3)); al=1-torch.exp(-sg*.1)
    tr=torch.cumprod(torch.cat([torch.ones(B,1),1-al+1e-10],1),1)[:,:-1]; w=al*tr
    return F.mse_loss((w[...,None]*c).sum(1),t)+0.01*w.std(1).mean()
def moe(p,x,t):
    g=lin(p,x,4); v,i=torch.topk(g,2,-1); w=torch.zeros_like(g).scatter(-1,i,F.softmax(v,-1))
    w1=p.take(4,16,32); w2=p.take(4,32,16); h=F.gelu(torch.einsum('bd,edh->beh',x,w1)); y=torch.einsum('beh,ehd->bed',h,w2); y=torch.einsum('bed,be->bd',y,w)
    aux=(F.softmax(g,-1).mean(0)*(w>0).float().mean(0)).sum()*4; return F.huber_loss(y,t)+.01*aux
def wavenet(p,x,t):
    w=p.take(8,1,2); x=F.conv1d(F.pad(x,(1,0)),w); skip=0
    for d in (1,2,4,8):
        y=F.pad(x,(d,0)); a=F.conv1d(y,p.take(8,8,2),p.take(8,scale=.1),dilation=d); b=F.conv1d(y,p.take(8,8,2),p.take(8,scale=.1),dilation=d)
        z=torch.tanh(a)*torch.sigmoid(b); skip=skip+F.conv1d(z,p.take(8,8,1)); x=x+F.conv1d(z,p.take(8,8,1))
    return F.cross_entropy(F.conv1d(F.relu(skip),p.take(12,8,1)),t)
def stn(p,x,t):
    l=F.max_pool2d(F.relu(conv(p,x,8,3,1,1,bias=True)),2); th=lin(p,l.flatten(1),6)*.1+torch.tensor([1.,0,0,0,1,0]); g=F.affine_grid(th.view(-1,2,3),list(x.shape),align_corners=False)
    y=F.grid_sample(x,g,mode='bilinear',padding_mode='zeros',align_corners=False); y=F.relu(conv(p,y,8,3,2,bias=True)); return F.multi_margin_loss(lin(p,y.flatten(1),10),t)
def metric(p,x,t):
    z=F.normalize(lin(p,F.relu(lin(p,x,32)),16),dim=1); s=z@z.t()/.2; n=z.shape[0]; m=torch.eye(n,dtype=torch.bool); s=s.masked_fill(m,float('-inf')); pos=(t[:,None]==t[None,:])&~m
    lp=s-torch.logsumexp(s,1,keepdim=True); lp=torch.where(pos,lp,torch.zeros(())); l1=-(lp.sum(1)/pos.sum(1).clamp(min=1)).mean()
    d=torch.cdist(z,z); l2=F.relu(d-.5)[pos].mean(); return l1+l2
def ssm(p,x,t):
    B,T,D=x.shape; A=-torch.exp(p.take(D,4,scale=.5)); dt=F.softplus(lin(p,x,D)); Bm=lin(p,x,4); C=lin(p,x,4); h=torch.zeros(B,D,4); ys=[]
    dA=torch.exp(dt[...,None]*A); dB=dt[...,None]*Bm[:,:,None,:]*x[...,None]
    for k in range(T): h=dA[:,k]*h+dB[:,k]; ys.append((h*C[:,k,None,:]).sum(-1))
    y=torch.stack(ys,1)+x*p.take(D,scale=.5); return (y-t).abs().mean()


def case(f, *inputs):
    return f, inputs


NETWORKS = {
    "resnet": case(resnet, (0, 4, 3, 32, 32), (10, 4)),
    "mobilenet": case(mobilenet, (0, 4, 3, 32, 32), (10, 4)),
    "unet": case(unet, (0, 2, 3, 16, 16), (0, 2, 3, 16, 16)),
    "vit": case(vit, (0, 4, 3, 32, 32), (10, 4)),
    "bert": case(bert, (50, 4, 12), (3, 4, 12), (50, 4, 12)),
    "gpt": case(gpt, (50, 2, 16), (0, 2)),
    "lstm": case(lstm, (50, 4, 10), (2, 4)),
    "gnn": case(gnn, (0, 30, 12), (30, 120), (30, 120), (8, 30)),
    "vae": case(vae, (0, 4, 1, 16, 16), (0, 4, 10)),
    "nerf": case(nerf, (0, 6, 8, 3), (0, 6, 3)),
    "moe": case(moe, (0, 20, 16), (0, 20, 16)),
    "wavenet": case(wavenet, (0, 3, 1, 40), (12, 3, 40)),
    "stn": case(stn, (0, 4, 1, 12, 12), (10, 4)),
    "metric": case(metric, (0, 16, 20), (4, 16)),
    "ssm": case(ssm, (0, 3, 9, 8), (0, 3, 9, 8)),
}


def made(f, inputs):
    """The weights of a network, and its inputs."""
    w, x = Weights(), []
    def fill(seed):
        for k, (below, *shape) in enumerate(inputs):
            v = numbers(shape, seed + k + 1)
            x.append(torch.tensor(np.floor((v + 0.5) * below).astype(np.int64) if below else (v * 2).astype(np.float32)))
    with torch.no_grad():
        fill(0)
        f(w, *x)
    x.clear()
    fill(len(w.list))
    return w, x


def value_and_gradients(f, w, x):
    w.next = 0
    loss = f(w, *x)
    return loss, torch.autograd.grad(loss, w.list, allow_unused=True)


def median_us(run):
    for _ in range(3):
        run()
    times = []
    for _ in range(21):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return sorted(times)[10] * 1e6


def record():
    lines = []
    for name, (f, inputs) in NETWORKS.items():
        w, x = made(f, inputs)
        loss, gradients = value_and_gradients(f, w, x)
        words = [name, f"{loss.item():.9g}", len(w.list), len(inputs)]
        for value, (scale, offset), g in zip(w.list, w.made, gradients):
            total = 0.0 if g is None else g.abs().double().sum().item()
            words += [f"{total:.9g}", repr(scale), repr(offset), value.dim(), *value.shape]
        for below, *shape in inputs:
            words += [below, len(shape), *shape]
        lines.append(" ".join(str(word) for word in words))
    path = pathlib.Path(__file__).with_name("networks.txt")
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if "--time" not in sys.argv:
        record()
        sys.exit()
    for name, (f, inputs) in NETWORKS.items():
        w, x = made(f, inputs)
        eager = median_us(lambda: value_and_gradients(f, w, x))
        step = torch.compile(lambda: value_and_gradients(f, w, x))
        print(f"{name} {eager:.1f} {median_us(step):.1f}", flush=True)
